// Simplifications of ops that reduce, repeat or move elements.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// The same number in the result's shape where the operand is one.
static OpFoldResult foldMove(Attribute constant, Value result) {
  if (isa<DeferredType>(result.getType()))
    return {};
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(constant))
    return splat.resizeSplat(tensorType(result));
  return {};
}

/// The same, and `x` where equal types mean that the op changes nothing.
static OpFoldResult foldSameType(Value x, Attribute constant, Value result) {
  if (!isa<DeferredType>(x.getType()) && x.getType() == result.getType())
    return x;
  return foldMove(constant, result);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  return foldSameType(getX(), adaptor.getX(), getResult());
}
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  return foldSameType(getX(), adaptor.getX(), getResult());
}
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) { return foldSameType(getX(), adaptor.getX(), getResult()); }
OpFoldResult PadOp::fold(FoldAdaptor) { return foldSameType(getX(), {}, getResult()); }

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return getX();
  return foldMove(adaptor.getX(), getResult());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) { return getDims().empty() ? OpFoldResult(getX()) : OpFoldResult(); }

/// A kept dimension becomes a reshape, a mean a sum times 1/n, and dimensions count from the front.
LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  if (isa<DeferredType>(op.getType()))
    return failure();
  int64_t rank = shapeOf(op.getX()).size();
  auto dims = llvm::map_to_vector(op.getDims(), [&](int64_t dim) { return normalizeDim(dim, rank); });
  llvm::sort(dims);
  bool mean = op.getKind() == ReduceKind::mean;
  if (!op.getKeep() && !mean && llvm::equal(dims, op.getDims()))
    return failure();
  TensorBuilder build(rewriter, op.getLoc());
  double count =
      double(tensorType(op.getX()).getNumElements()) / double(tensorType(op.getResult()).getNumElements());
  Value result = build.reduce(mean ? ReduceKind::sum : op.getKind(), op.getX(), dims);
  if (mean)
    result = build.mul(result, 1 / count);
  rewriter.replaceOp(op, build.reshape(result, shapeOf(op.getResult())));
  return success();
}

/// Repeating twice is repeating once.
LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<BroadcastOp>();
  if (!inner || isa<DeferredType>(op.getType()))
    return failure();
  rewriter.replaceOp(op, TensorBuilder(rewriter, op.getLoc()).broadcastTo(inner.getX(), op.getShape()));
  return success();
}

/// Only the last shape counts, and its sizes are spelled out.
LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  if (isa<DeferredType>(op.getType()))
    return failure();
  auto inner = op.getX().getDefiningOp<ReshapeOp>();
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  if (!inner && op.getShape() == shape)
    return failure();
  Value source = inner ? inner.getX() : op.getX();
  rewriter.replaceOp(op, TensorBuilder(rewriter, op.getLoc()).reshape(source, shape));
  return success();
}

/// Two permutations are one.
LogicalResult TransposeOp::canonicalize(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<TransposeOp>();
  if (!inner || isa<DeferredType>(op.getType()))
    return failure();
  auto permutation =
      llvm::map_to_vector(op.getPermutation(), [&](int64_t dim) { return inner.getPermutation()[dim]; });
  rewriter.replaceOp(op, TensorBuilder(rewriter, op.getLoc()).transpose(inner.getX(), permutation));
  return success();
}
