// Ops that slice, pad, split or concatenate along one dimension.
#include "dialects/NN/Shape.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;
using Cotangents = MutableArrayRef<Value>;
using Labels = SmallVector<int>;

namespace {

/// Builds the boxes of a result that differs from its operands along one dimension.
struct BoxBuilder {
  Value result;
  int64_t dim;
  SmallVector<int64_t> resultStrides = stridesOf(result);

  BoxBuilder(Value result, int64_t dim) : result(result), dim(normalizeDim(dim, shapeOf(result).size())) {}

  /// Returns a box of zeros: `size` positions of `dim` from `resultOffset` on.
  StridedBox zeros(int64_t size, int64_t resultOffset) const {
    SmallVector<int64_t> shape(shapeOf(result));
    shape[dim] = size;
    return {std::nullopt,  shape, SmallVector<int64_t>(shape.size(), 0),
            resultStrides, 0,     resultOffset * resultStrides[dim]};
  }

  /// Returns a copied box: `size` positions of `dim`, from `sourceOffset` on in `source`, which is operand
  /// number `operand`, and from `resultOffset` on in the result.
  StridedBox copy(unsigned operand, Value source, int64_t size, int64_t sourceOffset,
                  int64_t resultOffset) const {
    StridedBox box = zeros(size, resultOffset);
    box.operand = operand;
    box.sourceStrides = stridesOf(source);
    box.sourceOffset = sourceOffset * box.sourceStrides[dim];
    return box;
  }
};

} // namespace

/// Returns the labels of an op that can be partitioned along all dimensions but `dim`.
static Labels allBut(Value value, int64_t dim) {
  Labels labels = labelsOf(value);
  labels[normalizeDim(dim, labels.size())] = -1;
  return labels;
}

Inferred SliceOp::inferTypes(Adaptor adaptor, InferError error) {
  FailureOr<int64_t> dim = checkDim(adaptor.getDim(), "x", adaptor.getX(), error);
  if (failed(dim))
    return failure();
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  int64_t offset = adaptor.getOffset(), size = adaptor.getSize();
  if (offset < 0 || size < 1 || size > shape[*dim] - offset)
    return error() << size << " elements from " << offset << " on are not all in dimension " << *dim
                   << " of x, " << adaptor.getX().getType();
  shape[*dim] = size;
  return single(adaptor.getX(), shape);
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) { return foldSameType(getX(), adaptor.getX(), getResult()); }

SmallVector<StridedBox> SliceOp::getBoxes() {
  return {BoxBuilder(getResult(), getDim()).copy(0, getX(), getSize(), getOffset(), 0)};
}

IndexingRule SliceOp::getIndexingRule() { return {{allBut(getX(), getDim())}, {allBut(getX(), getDim())}}; }

void SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t dim = normalizeDim(getDim(), shape.size());
  out[0] = TensorBuilder(builder, getLoc()).pad(g[0], dim, getOffset(), shape[dim] - getOffset() - getSize());
}

Inferred PadOp::inferTypes(Adaptor adaptor, InferError error) {
  FailureOr<int64_t> dim = checkDim(adaptor.getDim(), "x", adaptor.getX(), error);
  if (failed(dim))
    return failure();
  int64_t low = adaptor.getLow(), high = adaptor.getHigh();
  if (std::min(low, high) < 0 || std::max(low, high) > INT32_MAX)
    return error() << "pads by a number of zeros below 2^31, found low " << low << " and high " << high;
  SmallVector<int64_t> shape(shapeOf(adaptor.getX()));
  shape[*dim] += low + high;
  return single(adaptor.getX(), shape);
}

OpFoldResult PadOp::fold(FoldAdaptor) { return foldSameType(getX(), {}, getResult()); }

SmallVector<StridedBox> PadOp::getBoxes() {
  BoxBuilder boxBuilder(getResult(), getDim());
  int64_t low = getLow(), high = getHigh(), size = shapeOf(getX())[boxBuilder.dim];
  SmallVector<StridedBox> boxes{boxBuilder.copy(0, getX(), size, 0, low)};
  if (low > 0)
    boxes.push_back(boxBuilder.zeros(low, 0));
  if (high > 0)
    boxes.push_back(boxBuilder.zeros(high, low + size));
  return boxes;
}

IndexingRule PadOp::getIndexingRule() { return {{allBut(getX(), getDim())}, {allBut(getX(), getDim())}}; }

void PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t dim = normalizeDim(getDim(), shape.size());
  out[0] = TensorBuilder(builder, getLoc()).slice(g[0], dim, getLow(), shape[dim]);
}

Inferred ConcatOp::inferTypes(Adaptor adaptor, InferError error) {
  if (adaptor.getInputs().empty())
    return error() << "joins one tensor or more";
  Value first = adaptor.getInputs().front();
  FailureOr<int64_t> dim = checkDim(adaptor.getDim(), "input 0", first, error);
  if (failed(dim))
    return failure();
  SmallVector<int64_t> shape(shapeOf(first));
  for (auto [index, input] : llvm::enumerate(adaptor.getInputs().drop_front())) {
    RankedTensorType type = tensorType(input);
    SmallVector<int64_t> expected(shape);
    if (type.getRank() == int64_t(shape.size()))
      expected[*dim] = type.getDimSize(*dim);
    if (type != typeLike(first, expected))
      return error() << "input " << index + 1 << ", " << type << ", and input 0, " << first.getType()
                     << ", may only differ in the size of dimension " << *dim;
    shape[*dim] += type.getDimSize(*dim);
  }
  return single(first, shape);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

SmallVector<StridedBox> ConcatOp::getBoxes() {
  BoxBuilder boxBuilder(getResult(), getDim());
  SmallVector<StridedBox> boxes;
  int64_t begin = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    int64_t size = shapeOf(input)[boxBuilder.dim];
    boxes.push_back(boxBuilder.copy(index, input, size, 0, begin));
    begin += size;
  }
  return boxes;
}

IndexingRule ConcatOp::getIndexingRule() {
  Labels labels = allBut(getResult(), getDim());
  return {SmallVector<Labels>(getInputs().size(), labels), {labels}};
}

void ConcatOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  int64_t dim = normalizeDim(getDim(), shapeOf(getResult()).size()), offset = 0;
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    int64_t size = shapeOf(input)[dim];
    if (needed[index])
      out[index] = build.slice(g[0], dim, offset, size);
    offset += size;
  }
}

FailureOr<SmallVector<Type>> SplitOp::inferTypes(Adaptor adaptor, InferError error) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t count = adaptor.getCount(), dim = normalizeDim(adaptor.getDim(), x.getRank());
  if (dim < 0 || dim >= x.getRank())
    return error() << "dimension " << int64_t(adaptor.getDim()) << " does not exist in x, " << x;
  if (std::optional<ArrayRef<int64_t>> sizes = adaptor.getSizes()) {
    SmallVector<Type> parts;
    int64_t sum = 0;
    for (int64_t size : *sizes) {
      if (size < 1 || size > INT32_MAX)
        return error() << "a part must have 1 to 2^31 - 1 elements, found " << size;
      sum += size;
      SmallVector<int64_t> shape(x.getShape());
      shape[dim] = size;
      parts.push_back(x.clone(shape));
    }
    if (sum != x.getDimSize(dim) || count != int64_t(parts.size()))
      return error() << "parts of [" << *sizes << "] elements, " << sum << " in total, are not dimension "
                     << dim << " of x, " << x;
    return parts;
  }
  if (count < 1 || count > maxParts || x.getDimSize(dim) % count != 0)
    return error() << "dimension " << dim << " of x, " << x << ", cannot be cut into " << count
                   << " equal parts";
  SmallVector<int64_t> shape(x.getShape());
  shape[dim] /= count;
  return SmallVector<Type>(count, x.clone(shape));
}

SmallVector<int64_t> SplitOp::partSizes() {
  if (std::optional<ArrayRef<int64_t>> sizes = getSizes())
    return SmallVector<int64_t>(*sizes);
  ArrayRef<int64_t> shape = shapeOf(getX());
  const int64_t count = getCount();
  return SmallVector<int64_t>(count, shape[normalizeDim(getDim(), shape.size())] / count);
}

SmallVector<Value> SplitOp::decompose(OpBuilder &builder) {
  const int64_t dim = normalizeDim(getDim(), shapeOf(getX()).size());
  int64_t begin = 0;
  SmallVector<Value> parts;
  for (int64_t size : partSizes()) {
    parts.push_back(SliceOp::create(builder, getLoc(), getX(), dim, begin, size));
    begin += size;
  }
  return parts;
}

void SplitOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                       MutableArrayRef<Value> operandCotangents) {
  if (!needed[0])
    return;
  TensorBuilder b(builder, getLoc());
  SmallVector<Value> parts;
  for (auto [cotangent, part] : llvm::zip(resultCotangents, getParts()))
    parts.push_back(cotangent ? cotangent : b.zero(tensorType(part)));
  operandCotangents[0] = b.concat(parts, normalizeDim(getDim(), shapeOf(getX()).size()));
}

IndexingRule SplitOp::getIndexingRule() {
  Labels labels = allBut(getX(), getDim());
  return {{labels}, SmallVector<Labels>(getNumResults(), labels)};
}
