// x + product becomes a product that accumulates into x: gradients that are summed then need no pass of their
// own.
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// True for values that lie in memory whatever is fused: those of other dialects (states), of matrix
/// products, and block arguments. Others are better added where they are computed.
static bool isStored(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<NNDialect>(op->getDialect()))
    return true;
  return hasClass(op, KernelClass::Gemm) || hasClass(op, KernelClass::Scatter);
}

/// True if `value` is known before `op` in its block.
static bool isBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return value.getParentBlock() == op->getBlock();
  return definition->getBlock() == op->getBlock() && definition->isBeforeInBlock(op);
}

/// What `sum` accumulates into, if it can accumulate: a product without addend has a null one.
static std::optional<Value> addendOf(Value sum) {
  if (!sum.hasOneUse())
    return std::nullopt;
  if (auto matmul = sum.getDefiningOp<MatmulOp>())
    return matmul.getAccumulate();
  if (auto scatter = sum.getDefiningOp<ScatterAddOp>())
    return scatter.getTable();
  return std::nullopt;
}

static bool isNothing(Value addend) { return !addend || constantValue(addend) == 0.0; }

/// The op at the start of the chain of accumulations that ends in `sum`, where another addend can enter, or
/// null.
static Operation *findEntry(Value sum, Value other) {
  std::optional<Value> addend = addendOf(sum);
  while (addend && !isNothing(*addend)) {
    sum = *addend;
    addend = addendOf(sum);
  }
  Operation *entry = addend ? sum.getDefiningOp() : nullptr;
  return entry && isBefore(other, entry) ? entry : nullptr;
}

static bool accumulate(Value sum, Value other, AddOp add, PatternRewriter &rewriter) {
  Operation *entry = findEntry(sum, other);
  if (!entry || !isStored(other))
    return false;
  rewriter.modifyOpInPlace(entry, [&] {
    if (auto matmul = dyn_cast<MatmulOp>(entry))
      matmul.getAccumulateMutable().assign(other);
    else
      cast<ScatterAddOp>(entry).getTableMutable().assign(other);
  });
  rewriter.replaceOp(add, sum);
  return true;
}

LogicalResult AddOp::canonicalize(AddOp op, PatternRewriter &rewriter) {
  if (isa<DeferredType>(op.getType()))
    return failure();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  return success(accumulate(lhs, rhs, op, rewriter) || accumulate(rhs, lhs, op, rewriter));
}
