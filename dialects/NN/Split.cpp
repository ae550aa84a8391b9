// nn.split: equal parts of a dimension.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

FailureOr<SmallVector<Type>> SplitOp::inferTypes(Adaptor adaptor, InferError error) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t count = adaptor.getCount(), dim = normalizeDim(adaptor.getDim(), x.getRank());
  if (dim < 0 || dim >= x.getRank())
    return error() << "dimension " << int64_t(adaptor.getDim()) << " does not exist in x, " << x;
  if (count < 1 || count > int64_t(maxParts) || x.getDimSize(dim) % count != 0)
    return error() << "dimension " << dim << " of x, " << x << ", cannot be cut into " << count
                   << " equal parts";
  SmallVector<int64_t> shape(x.getShape());
  shape[dim] /= count;
  return SmallVector<Type>(count, x.clone(shape));
}

SmallVector<Value> SplitOp::decompose(OpBuilder &builder) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t dim = normalizeDim(getDim(), shape.size()), size = shape[dim] / int64_t(getCount());
  SmallVector<Value> parts;
  for (int64_t i = 0; i < int64_t(getCount()); ++i)
    parts.push_back(SliceOp::create(builder, getLoc(), getX(), dim, i * size, size));
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
