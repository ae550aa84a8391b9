// Gradients of ops that reduce, repeat or move elements.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Cotangents = MutableArrayRef<Value>;

/// `value`, a result of the reduction (or its cotangent), repeated to the shape of what was reduced.
static Value spread(TensorBuilder &build, ReduceOp op, Value value) {
  SmallVector<int64_t> kept(shapeOf(op.getX()));
  for (int64_t dim : op.getDims())
    kept[normalizeDim(dim, kept.size())] = 1;
  return build.broadcastTo(build.reshape(value, kept), tensorType(op.getX()));
}

/// Number of elements that make one element of the result.
static double reducedCount(ReduceOp op) {
  return double(tensorType(op.getX()).getNumElements()) / double(tensorType(op.getResult()).getNumElements());
}

/// The elements that equal the extremum share the cotangent evenly, as in PyTorch.
static Value buildExtremumVjp(TensorBuilder &build, ReduceOp op, Value g) {
  Value x = op.getX();
  Value chosen = build.compare(Predicate::eq, x, spread(build, op, op.getResult()));
  Value ones = build.select(chosen, build.constantLike(x, 1), build.constantLike(x, 0));
  Value count = build.reduce(ReduceKind::sum, ones, op.getDims(), op.getKeep());
  return build.mul(ones, spread(build, op, build.div(g, count)));
}

void ReduceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  switch (getKind()) {
  case ReduceKind::sum:
    out[0] = spread(build, *this, g[0]);
    return;
  case ReduceKind::mean:
    out[0] = spread(build, *this, build.mul(g[0], 1 / reducedCount(*this)));
    return;
  case ReduceKind::max:
  case ReduceKind::min:
    out[0] = buildExtremumVjp(build, *this, g[0]);
    return;
  }
}

void BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).sumTo(g[0], tensorType(getX()));
}

void ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).reshape(g[0], shapeOf(getX()));
}

void TransposeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = to;
  out[0] = TensorBuilder(builder, getLoc()).transpose(g[0], inverse);
}

void SliceOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t dim = normalizeDim(getDim(), shape.size());
  out[0] = TensorBuilder(builder, getLoc()).pad(g[0], dim, getOffset(), shape[dim] - getOffset() - getSize());
}

void PadOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t dim = normalizeDim(getDim(), shape.size());
  out[0] = TensorBuilder(builder, getLoc()).slice(g[0], dim, getLow(), shape[dim]);
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
