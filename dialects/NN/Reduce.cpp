// nn.reduce, and nn.broadcast, its adjoint.
#include "dialects/NN/Shape.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;
using Cotangents = MutableArrayRef<Value>;
using Labels = SmallVector<int>;

Inferred ReduceOp::inferTypes(Adaptor adaptor, InferError error) {
  RankedTensorType type = tensorType(adaptor.getX());
  bool isFloat = isa<FloatType>(type.getElementType());
  if (type.getElementType().isInteger(1) || (adaptor.getKind() == ReduceKind::mean && !isFloat))
    return error() << "takes no " << stringifyReduceKind(adaptor.getKind()) << " of x, " << type
                   << "; use nn.convert";
  SmallVector<bool> reduced(type.getRank(), false);
  for (int64_t dim : adaptor.getDims()) {
    FailureOr<int64_t> positive = checkDim(dim, "x", adaptor.getX(), error);
    if (failed(positive))
      return failure();
    if (reduced[*positive])
      return error() << "dimension " << dim << " is reduced twice";
    reduced[*positive] = true;
  }
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!reduced[dim])
      shape.push_back(size);
    else if (adaptor.getKeep())
      shape.push_back(1);
  }
  Type element = type.getElementType();
  if (isFp8(element))
    return error() << "does not compute with fp8 numbers, found " << type << "; use nn.convert";
  if (adaptor.getTo() && !(isLowPrecision(element) && adaptor.getTo()->isF32()))
    return error() << "elements of " << element << " are not combined to " << *adaptor.getTo()
                   << "; expected `to f32` with elements of bf16 or f16 alone";
  return SmallVector<Type>{RankedTensorType::get(shape, adaptor.getTo().value_or(element))};
}

void ReduceOp::keepSums() {
  setTo(Float32Type::get(getContext()));
  getResult().setType(tensorType(getResult()).clone(*getTo()));
}

bool ReduceOp::roundSums(Type type) {
  if (!getTo() || tensorType(getX()).getElementType() != type)
    return false;
  removeToAttr();
  getResult().setType(tensorType(getResult()).clone(type));
  return true;
}

std::optional<EpilogueStep> ReduceOp::getEpilogueStep(unsigned) {
  const int64_t last = int64_t(shapeOf(getX()).size()) - 1;
  const bool keepsColumns = int64_t(getDims().size()) == last && llvm::none_of(getDims(), [&](int64_t dim) {
                              return normalizeDim(dim, last + 1) == last;
                            });
  return getKind() == ReduceKind::sum && keepsColumns && !getKeep()
             ? std::optional(EpilogueStep{EpilogueKind::ColumnSums})
             : std::nullopt;
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() && !getTo() ? OpFoldResult(getX()) : OpFoldResult();
}

/// Rewrites `keep` as a reshape, a mean as a sum times 1/n, and negative dimensions as positive ones.
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
  Type element = tensorType(op.getResult()).getElementType();
  Type sum = mean ? wideElement(element) : element; // rounded after the multiplication
  Value result = build.reduce(mean ? ReduceKind::sum : op.getKind(), op.getX(), dims, /*keep=*/false, sum);
  if (mean)
    result = build.convert(build.mul(result, 1 / count), element);
  rewriter.replaceOp(op, build.reshape(result, shapeOf(op.getResult())));
  return success();
}

/// Sums can be partitioned, giving partial sums; dimensions of other reductions cannot.
IndexingRule ReduceOp::getIndexingRule() {
  Labels operand = labelsOf(getX()), result;
  SmallVector<bool> reduced(operand.size(), false);
  for (int64_t dim : getDims())
    reduced[normalizeDim(dim, operand.size())] = true;
  for (auto [dim, label] : llvm::enumerate(operand)) {
    if (!reduced[dim]) {
      result.push_back(label);
      continue;
    }
    if (getKeep())
      result.push_back(-1);
    if (getKind() != ReduceKind::sum)
      label = -1;
  }
  return {{operand}, {result}};
}

/// Repeats `value`, a result of the reduction or its cotangent, to the shape of the operand.
static Value spread(TensorBuilder &build, ReduceOp op, Value value) {
  value = build.convert(value, tensorType(op.getX()).getElementType());
  SmallVector<int64_t> kept(shapeOf(op.getX()));
  for (int64_t dim : op.getDims())
    kept[normalizeDim(dim, kept.size())] = 1;
  return build.broadcastTo(build.reshape(value, kept), tensorType(op.getX()));
}

/// Returns the number of operand elements per result element.
static double reducedCount(ReduceOp op) {
  return double(tensorType(op.getX()).getNumElements()) / double(tensorType(op.getResult()).getNumElements());
}

/// Elements that equal the extremum share the cotangent evenly, as in PyTorch.
static Value buildExtremumVjp(TensorBuilder &build, ReduceOp op, Value g) {
  Value x = op.getX();
  Value chosen = build.compare(Predicate::eq, x, spread(build, op, op.getResult()));
  Value ones = build.select(chosen, build.constantLike(x, 1), build.constantLike(x, 0));
  Type element = tensorType(op.getResult()).getElementType();
  Type wide = wideElement(element);
  Value count = build.reduce(ReduceKind::sum, ones, op.getDims(), op.getKeep(), wide); // exact
  return build.mul(ones, spread(build, op, build.div(build.convert(g, wide), count)));
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

Inferred BroadcastOp::inferTypes(Adaptor adaptor, InferError error) {
  ArrayRef<int64_t> from = shapeOf(adaptor.getX()), to = adaptor.getShape();
  if (from.size() > to.size())
    return error() << "cannot repeat x, " << adaptor.getX().getType() << ", to the " << to.size()
                   << " dimensions of [" << to << "]";
  for (size_t dim = 0; dim < from.size(); ++dim) {
    int64_t size = to[to.size() - from.size() + dim];
    if (from[dim] != 1 && from[dim] != size)
      return error() << "cannot repeat dimension " << dim << " of x, " << adaptor.getX().getType()
                     << ", from " << from[dim] << " to " << size
                     << "; only dimensions of size 1 are repeated";
  }
  if (failed(checkSizes(to, error))) // also for added dimensions
    return failure();
  return single(adaptor.getX(), to);
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  return foldSameType(getX(), adaptor.getX(), getResult());
}

/// Merges two broadcasts into one.
LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<BroadcastOp>();
  if (!inner || isa<DeferredType>(op.getType()))
    return failure();
  rewriter.replaceOp(op, TensorBuilder(rewriter, op.getLoc()).broadcastTo(inner.getX(), op.getShape()));
  return success();
}

IndexingRule BroadcastOp::getIndexingRule() {
  ArrayRef<int64_t> from = shapeOf(getX()), to = shapeOf(getResult());
  Labels result = labelsOf(getResult()), operand;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    size_t aligned = to.size() - from.size() + dim;
    operand.push_back(from[dim] == to[aligned] ? result[aligned] : -1);
  }
  return {{operand}, {result}};
}

void BroadcastOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).sumTo(g[0], tensorType(getX()));
}
