// Squared errors.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

FailureOr<SmallVector<Type>> MseOp::inferTypes(Adaptor adaptor, InferError error) {
  RankedTensorType x = tensorType(adaptor.getX());
  if (!isa<FloatType>(x.getElementType()) || adaptor.getY().getType() != x)
    return error() << "x and y must be float tensors of one shape, found " << x << " and "
                   << adaptor.getY().getType();
  return SmallVector<Type>{x};
}

IndexingRule MseOp::getIndexingRule() { return elementwiseIndexing(*this); }

SmallVector<Value> MseOp::decompose(OpBuilder &builder) {
  TensorBuilder b(builder, getLoc());
  return {b.square(b.sub(getX(), getY()))};
}

/// 2 (x - y), and its negative.
void MseOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultCotangents, ArrayRef<bool> needed,
                     MutableArrayRef<Value> operandCotangents) {
  TensorBuilder b(builder, getLoc());
  Value dx = b.mul(resultCotangents[0], b.mul(b.sub(getX(), getY()), 2));
  operandCotangents[0] = dx;
  if (needed[1])
    operandCotangents[1] = b.neg(dx);
}
