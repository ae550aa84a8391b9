// What ops that move elements move where.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// Row-major strides, in elements.
static SmallVector<int64_t> stridesOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

namespace {
/// The boxes of a result that differs from its operands along one dimension.
struct Along {
  Value result;
  int64_t dim;
  SmallVector<int64_t> resultStrides = stridesOf(result);

  Along(Value result, int64_t dim) : result(result), dim(normalizeDim(dim, shapeOf(result).size())) {}

  /// `size` elements along the dimension, from `to` on.
  StridedBox zeros(int64_t size, int64_t to) const {
    SmallVector<int64_t> shape(shapeOf(result));
    shape[dim] = size;
    return {std::nullopt,  shape, SmallVector<int64_t>(shape.size(), 0),
            resultStrides, 0,     to * resultStrides[dim]};
  }

  /// The same of operand number `operand`, `source`, from its `from` on.
  StridedBox copy(unsigned operand, Value source, int64_t size, int64_t from, int64_t to) const {
    StridedBox box = zeros(size, to);
    box.operand = operand;
    box.sourceStrides = stridesOf(source);
    box.sourceOffset = from * box.sourceStrides[dim];
    return box;
  }
};
} // namespace

SmallVector<StridedBox> SliceOp::getBoxes() {
  return {Along(getResult(), getDim()).copy(0, getX(), getSize(), getOffset(), 0)};
}

SmallVector<StridedBox> PadOp::getBoxes() {
  Along along(getResult(), getDim());
  int64_t low = getLow(), high = getHigh(), size = shapeOf(getX())[along.dim];
  SmallVector<StridedBox> boxes{along.copy(0, getX(), size, 0, low)};
  if (low > 0)
    boxes.push_back(along.zeros(low, 0));
  if (high > 0)
    boxes.push_back(along.zeros(high, low + size));
  return boxes;
}

SmallVector<StridedBox> ConcatOp::getBoxes() {
  Along along(getResult(), getDim());
  SmallVector<StridedBox> boxes;
  int64_t begin = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    int64_t size = shapeOf(input)[along.dim];
    boxes.push_back(along.copy(index, input, size, 0, begin));
    begin += size;
  }
  return boxes;
}

SmallVector<StridedBox> TransposeOp::getBoxes() {
  SmallVector<int64_t> sourceStrides = stridesOf(getX());
  auto permuted = llvm::map_to_vector(getPermutation(), [&](int64_t dim) { return sourceStrides[dim]; });
  return {{0, SmallVector<int64_t>(shapeOf(getResult())), permuted, stridesOf(getResult())}};
}
