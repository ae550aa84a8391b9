// Softmax along the last dimension.
#include "dialects/NN/Rows.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

FailureOr<SmallVector<Type>> SoftmaxOp::inferTypes(Adaptor adaptor, InferError error) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  if (type.getRank() == 0 || !isa<FloatType>(type.getElementType()))
    return error() << "x must be a float tensor with a last dimension, found " << type;
  return SmallVector<Type>{type};
}

IndexingRule SoftmaxOp::getIndexingRule() { return {{rowLabels(getX())}, {rowLabels(getX())}}; }

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  Value x = getX();
  Value exp = b.exp(b.sub(x, overRow(b, reduceRows(b, ReduceKind::max, x), x)));
  Value inverse = b.create<ReciprocalOp>(rowSum(b, exp));
  return {b.mul(exp, overRow(b, inverse, x))};
}

/// The cotangent is y (g - sum(g y)), where y is the result and g its cotangent.
void SoftmaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                         MutableArrayRef<Value> operandCotangents) {
  if (!needed[0])
    return;
  TensorBuilder b(builder, getLoc());
  Value y = getResult(), g = resultCotangents[0];
  operandCotangents[0] = b.mul(y, b.sub(g, overRow(b, rowSum(b, b.mul(g, y)), y)));
}
