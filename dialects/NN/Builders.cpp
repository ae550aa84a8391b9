// Builder of nn ops with inferred types.
#include "dialects/NN/Builders.h"

using namespace mlir;

namespace trainc::nn {

Value TensorBuilder::constant(double value, RankedTensorType type) {
  return create<ConstantOp>(builder.getF64FloatAttr(value), TypeAttr::get(type)).getResult();
}

Value TensorBuilder::constantLike(Value value, double number) { return constant(number, tensorType(value)); }

Value TensorBuilder::compare(Predicate predicate, Value x, Value y) {
  return create<CompareOp>(predicate, x, y).getResult();
}

Value TensorBuilder::select(Value condition, Value x, Value y) {
  return create<SelectOp>(condition, x, y).getResult();
}

Value TensorBuilder::convert(Value x, Type element) {
  return element == tensorType(x).getElementType() ? x
                                                   : create<ConvertOp>(x, TypeAttr::get(element)).getResult();
}

Value TensorBuilder::broadcastTo(Value x, ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : create<BroadcastOp>(x, shape).getResult();
}

Value TensorBuilder::broadcastLast(Value x, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> column(shapeOf(x));
  column.push_back(1);
  return broadcastTo(reshape(x, column), shape);
}

Value TensorBuilder::sumTo(Value x, RankedTensorType type) {
  ArrayRef<int64_t> from = shapeOf(x), to = type.getShape();
  if (from == to)
    return x;
  size_t added = from.size() - to.size();
  SmallVector<int64_t> dims;
  for (size_t dim = 0; dim < from.size(); ++dim)
    if (dim < added || to[dim - added] != from[dim])
      dims.push_back(dim);
  return reshape(sum(x, dims), to);
}

Value TensorBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dims, bool keep, Type to) {
  const bool same = !to || to == tensorType(x).getElementType();
  return create<ReduceOp>(kind, x, dims, keep, same ? TypeAttr() : TypeAttr::get(to)).getResult();
}

Value TensorBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : create<ReshapeOp>(x, shape).getResult();
}

Value TensorBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return create<TransposeOp>(x, permutation).getResult();
}

Value TensorBuilder::transposeLast(Value x) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return transpose(x, permutation);
}

Value TensorBuilder::slice(Value x, int64_t dim, int64_t offset, int64_t size) {
  return create<SliceOp>(x, dim, offset, size).getResult();
}

Value TensorBuilder::pad(Value x, int64_t dim, int64_t low, int64_t high) {
  return create<PadOp>(x, dim, low, high).getResult();
}

Value TensorBuilder::concat(ArrayRef<Value> inputs, int64_t dim) {
  return create<ConcatOp>(inputs, dim).getResult();
}

Value TensorBuilder::matmul(Value lhs, Value rhs, Matmul how) {
  const bool same = !how.to || how.to == tensorType(lhs).getElementType();
  return create<MatmulOp>(lhs, rhs, how.transposeLhs, how.transposeRhs, how.reduceBatch, Value(),
                          how.lhsScale, how.rhsScale, same ? TypeAttr() : TypeAttr::get(how.to))
      .getResult();
}

Value buildDropout(TensorBuilder &b, Value x, double p, const RandomDraw &draw) {
  Value uniform =
      b.create<RandomOp>(draw.seed, draw.step, draw.micro, /*normal=*/false, draw.stream, tensorType(x));
  Value kept = b.compare(Predicate::ge, uniform, b.constantLike(x, p));
  return b.mul(x, b.select(kept, b.constantLike(x, 1 / (1 - p)), b.constantLike(x, 0)));
}

std::optional<double> constantValue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? std::optional(constant.getValue().convertToDouble()) : std::nullopt;
}

} // namespace trainc::nn
