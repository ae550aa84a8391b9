#include "lib/Fusion/Legalize.h"

#include "dialects/NN/Builders.h"
#include "lib/Fusion/ReadAnalysis.h"
#include "lib/Support/UseOrder.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

static Value reshape(ImplicitLocOpBuilder &b, Value x, RankedTensorType type) {
  return nn::ReshapeOp::create(b, type, x, type.getShape());
}

/// Builds a reduction over `dims` (ascending) with an unrounded result.
static Value reduceOver(ImplicitLocOpBuilder &b, nn::ReduceKind kind, Value x, ArrayRef<int64_t> dims) {
  Type element = nn::tensorType(x).getElementType();
  Type wide = nn::wideElement(element);
  return nn::TensorBuilder(b, b.getLoc()).reduce(kind, x, dims, /*keep=*/false, wide);
}

/// Moves the dimensions `last` of x to the end.
static Value moveLast(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> last) {
  RankedTensorType type = nn::tensorType(x);
  SmallVector<int64_t> permutation, shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(last, dim))
      permutation.push_back(dim);
  llvm::append_range(permutation, last);
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  return nn::TransposeOp::create(b, RankedTensorType::get(shape, type.getElementType()), x,
                                 b.getDenseI64ArrayAttr(permutation));
}

/// Reduces x over `dims` (ascending) in supported steps. The result has the remaining dimensions in some
/// shape.
static Value reduceInSteps(ImplicitLocOpBuilder &b, nn::ReduceKind kind, Value x, ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> shape = nn::tensorType(x).getShape();
  SmallVector<bool> flags; // for each dimension above 1: whether it is reduced
  SmallVector<int64_t> trailing, rest;
  bool inTail = true;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    bool reduced = llvm::is_contained(dims, dim);
    if (shape[dim] > 1) {
      flags.push_back(reduced);
      inTail &= reduced;
    }
    if (reduced)
      (inTail ? trailing : rest).insert((inTail ? trailing : rest).begin(), dim);
  }
  int64_t changes = 0;
  for (size_t i = 1; i < flags.size(); ++i)
    changes += flags[i] != flags[i - 1];
  if (changes <= 1) // all, leading or trailing dimensions
    return reduceOver(b, kind, x, dims);
  if (!flags.front()) { // the last dimension is kept
    Value moved = moveLast(b, x, dims);
    SmallVector<int64_t> last = llvm::to_vector(llvm::seq<int64_t>(shape.size() - dims.size(), shape.size()));
    return reduceOver(b, kind, moved, last);
  }
  return reduceInSteps(b, kind, reduceOver(b, kind, x, trailing),
                       rest); // dimensions before the tail keep their numbers
}

static void legalizeReduce(nn::ReduceOp reduce) {
  ImplicitLocOpBuilder b(reduce.getLoc(), reduce);
  RankedTensorType from = nn::tensorType(reduce.getX()), to = nn::tensorType(reduce.getResult());
  SmallVector<int64_t> dims;
  for (int64_t dim : reduce.getDims())
    dims.push_back(dim < 0 ? dim + from.getRank() : dim);
  llvm::sort(dims);
  Value result = from.getNumElements() == to.getNumElements()
                     ? reduce.getX()
                     : reduceInSteps(b, reduce.getKind(), reduce.getX(), dims);
  result = nn::TensorBuilder(b, b.getLoc()).convert(result, to.getElementType());
  if (result.getType() != to)
    result = reshape(b, result, to);
  reduce.getResult().replaceAllUsesWith(result);
  reduce.erase();
}

static bool isLegal(nn::ReduceOp reduce) {
  ArrayRef<int64_t> shape = nn::tensorType(reduce.getX()).getShape();
  SmallVector<bool> reduced(shape.size(), false);
  for (int64_t dim : reduce.getDims())
    reduced[dim < 0 ? dim + shape.size() : dim] = true;
  SmallVector<bool> flags;
  for (auto [size, flag] : llvm::zip(shape, reduced))
    if (size > 1 && (flags.empty() || flags.back() != flag))
      flags.push_back(flag);
  return flags.size() <= 2 && llvm::is_contained(flags, true);
}

static void legalizeBroadcast(nn::BroadcastOp broadcast) {
  RankedTensorType to = nn::tensorType(broadcast.getResult());
  if (nn::tensorType(broadcast.getX()).getNumElements() != to.getNumElements())
    return;
  ImplicitLocOpBuilder b(broadcast.getLoc(), broadcast);
  broadcast.getResult().replaceAllUsesWith(reshape(b, broadcast.getX(), to));
  broadcast.erase();
}

/// Converts gathered rows instead of the whole table.
static void legalizeGather(nn::GatherOp gather) {
  auto convert = gather.getTable().getDefiningOp<nn::ConvertOp>();
  if (!convert || !convert.isWidening())
    return;
  ImplicitLocOpBuilder b(gather.getLoc(), gather);
  nn::TensorBuilder build(b, b.getLoc());
  Value rows = build.create<nn::GatherOp>(convert.getX(), gather.getIds()).getResult();
  gather.getResult().replaceAllUsesWith(build.convert(rows, convert.getTo()));
  gather.erase();
}

/// Gives the sum of a tensor's squares, such as of a gradient for the norm of all, squares of its own. Shared
/// ones would merge the sum with their other readers, such as the update, of which the part that depends on
/// the norm has to come later: the kernel would write the results of the other part to memory.
static void separateSquares(nn::ReduceOp sum) {
  auto square = sum.getX().getDefiningOp<nn::SquareOp>();
  if (!square || square->hasOneUse() || nn::tensorType(sum.getResult()).getNumElements() != 1)
    return;
  OpBuilder builder(sum);
  sum.getXMutable().assign(builder.clone(*square)->getResult(0));
}

/// Creates one constant right before each use by an op that is not primitive.
static void separateZero(Operation *zero) {
  OpBuilder builder(zero->getContext());
  for (OpOperand *use : usesFromLast(zero->getResult(0))) {
    if (ReadAnalysis::isPrimitive(use->getOwner()))
      continue;
    builder.setInsertionPoint(use->getOwner());
    use->set(builder.clone(*zero)->getResult(0));
  }
}

void trainc::legalizePrimitives(Block &block) {
  SmallVector<Operation *> zeros; // separated later, because their clones must not be visited
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!ReadAnalysis::isPrimitive(&op))
      continue;
    if (auto reduce = dyn_cast<nn::ReduceOp>(op))
      separateSquares(reduce);
    if (auto reduce = dyn_cast<nn::ReduceOp>(op); reduce && !isLegal(reduce))
      legalizeReduce(reduce);
    else if (auto broadcast = dyn_cast<nn::BroadcastOp>(op))
      legalizeBroadcast(broadcast);
    else if (auto gather = dyn_cast<nn::GatherOp>(op))
      legalizeGather(gather);
    else if (isZero(&op))
      zeros.push_back(&op);
  }
  llvm::for_each(zeros, separateZero);
}
