// nn.reshape and nn.transpose.
#include "dialects/NN/Shape.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;
using Cotangents = MutableArrayRef<Value>;
using Labels = SmallVector<int>;

/// Replaces size 0 by the size of x, and size -1 by the remaining size.
static FailureOr<SmallVector<int64_t>> resolveShape(Value x, ArrayRef<int64_t> wanted, InferError error) {
  ArrayRef<int64_t> from = shapeOf(x);
  SmallVector<int64_t> shape(wanted);
  int64_t open = -1;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 0) {
      if (dim >= from.size())
        return error() << "size 0 at position " << dim << " keeps x's dimension, but x, " << x.getType()
                       << ", has only " << from.size();
      size = from[dim];
    }
    if (size < -1 || (size == -1 && open >= 0))
      return error() << "shape [" << wanted << "] may hold one -1 and otherwise sizes";
    if (size == -1)
      open = dim;
  }
  SmallVector<int64_t> closed(shape);
  if (open >= 0)
    closed[open] = 1;
  if (failed(checkSizes(closed, error)))
    return failure();
  int64_t known = ShapedType::getNumElements(closed);
  int64_t elements = tensorType(x).getNumElements();
  if (open >= 0 && elements % known == 0)
    shape[open] = elements / known;
  if (ShapedType::getNumElements(shape) != elements || (open >= 0 && shape[open] < 0))
    return error() << "x, " << x.getType() << ", has " << elements
                   << " elements, which do not fit the shape [" << wanted << "]";
  return shape;
}

Inferred ReshapeOp::inferTypes(Adaptor adaptor, InferError error) {
  auto shape = resolveShape(adaptor.getX(), adaptor.getShape(), error);
  if (failed(shape))
    return failure();
  return single(adaptor.getX(), *shape);
}

KernelClass ReshapeOp::getKernelClass() { return KernelClass::Alias; }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  return foldSameType(getX(), adaptor.getX(), getResult());
}

/// Merges two reshapes, and replaces sizes 0 and -1.
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

/// Dimensions form groups of equal products, from the front. The first dimensions of a group correspond: if
/// the number of slices divides both, equal slices of one are equal slices of the other. Dimensions of size 1
/// belong to no group.
IndexingRule ReshapeOp::getIndexingRule() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getResult());
  Labels operand(from.size(), -1), result(to.size(), -1);
  size_t i = 0, j = 0;
  auto skipOnes = [](ArrayRef<int64_t> shape, size_t &dim) {
    while (dim < shape.size() && shape[dim] == 1)
      ++dim;
  };
  for (int label = 0;; ++label) {
    skipOnes(from, i);
    skipOnes(to, j);
    if (i == from.size() || j == to.size())
      break;
    operand[i] = result[j] = label;
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
  }
  return {{operand}, {result}};
}

void ReshapeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).reshape(g[0], shapeOf(getX()));
}

Inferred TransposeOp::inferTypes(Adaptor adaptor, InferError error) {
  ArrayRef<int64_t> from = shapeOf(adaptor.getX()), permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, from.size())))
    return error() << "[" << permutation << "] is not a permutation of the " << from.size()
                   << " dimensions of x, " << adaptor.getX().getType();
  return single(adaptor.getX(), llvm::map_to_vector(permutation, [&](int64_t dim) { return from[dim]; }));
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return getX();
  return foldMove(adaptor.getX(), getResult());
}

/// Merges two transposes.
LogicalResult TransposeOp::canonicalize(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<TransposeOp>();
  if (!inner || isa<DeferredType>(op.getType()))
    return failure();
  auto permutation =
      llvm::map_to_vector(op.getPermutation(), [&](int64_t dim) { return inner.getPermutation()[dim]; });
  rewriter.replaceOp(op, TensorBuilder(rewriter, op.getLoc()).transpose(inner.getX(), permutation));
  return success();
}

SmallVector<StridedBox> TransposeOp::getBoxes() {
  SmallVector<int64_t> sourceStrides = stridesOf(getX());
  auto permuted = llvm::map_to_vector(getPermutation(), [&](int64_t dim) { return sourceStrides[dim]; });
  return {{0, SmallVector<int64_t>(shapeOf(getResult())), permuted, stridesOf(getResult())}};
}

IndexingRule TransposeOp::getIndexingRule() {
  Labels operand = labelsOf(getX());
  return {{operand}, {llvm::map_to_vector(getPermutation(), [&](int64_t dim) { return operand[dim]; })}};
}

void TransposeOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = to;
  out[0] = TensorBuilder(builder, getLoc()).transpose(g[0], inverse);
}
