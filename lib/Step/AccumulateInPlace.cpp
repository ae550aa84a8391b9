// Pass `accumulate-in-place`.
#include "lib/Step/Passes.h"

#include "dialects/NN/Builders.h"
#include "dialects/Train/Train.h"
#include "lib/Analysis/Preconditions.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace trainc {
#define GEN_PASS_DEF_ACCUMULATEINPLACE
#include "lib/Step/Passes.h.inc"
} // namespace trainc

using namespace mlir;
using namespace trainc;

/// Whether the value is in memory whatever is fused: states, accumulated sums and block arguments. Other
/// values are better added in the kernel that computes them.
static bool isStored(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || !isa<nn::NNDialect>(op->getDialect()) || isa<AccumulatingOpInterface>(op);
}

/// Whether `value` is defined before `op` in its block.
static bool isBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return value.getParentBlock() == op->getBlock();
  return definition->getBlock() == op->getBlock() && definition->isBeforeInBlock(op);
}

static bool isReadOnce(Value value) {
  return llvm::count_if(value.getUses(),
                        [](OpOperand &use) { return !isa<train::BlockUseOp>(use.getOwner()); }) == 1;
}

/// Returns the result of an op that can accumulate, if it has one use; null for other values.
static OpResult accumulating(Value sum) {
  auto op = sum.getDefiningOp<AccumulatingOpInterface>();
  auto result = dyn_cast<OpResult>(sum);
  return op && isReadOnce(sum) && op.canAccumulate(result.getResultNumber()) ? result : OpResult();
}

static Value addendOf(OpResult sum) {
  Value addend = cast<AccumulatingOpInterface>(sum.getOwner()).getAddend(sum.getResultNumber());
  return addend && nn::constantValue(addend) == 0.0 ? Value() : addend;
}

/// Returns the start of the chain of accumulations that ends in `sum`, if `other` can be its addend; null
/// otherwise.
static OpResult findStart(Value sum, Value other) {
  OpResult start = accumulating(sum);
  while (start && addendOf(start))
    start = accumulating(addendOf(start));
  return start && isBefore(other, start.getOwner()) ? start : OpResult();
}

/// Replaces `add`, of `sum` and `other`, by `sum`, if `sum` can start from `other`.
static bool accumulate(nn::AddOp add, Value sum, Value other) {
  OpResult start = isStored(other) ? findStart(sum, other) : OpResult();
  if (!start)
    return false;
  cast<AccumulatingOpInterface>(start.getOwner()).setAddend(start.getResultNumber(), other);
  add.getResult().replaceAllUsesWith(sum);
  add.erase();
  return true;
}

static void accumulateIn(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto chunks = dyn_cast<nn::ChunksOp>(op))
      accumulateIn(chunks.getBody().front());
    if (auto add = dyn_cast<nn::AddOp>(op))
      accumulate(add, add.getLhs(), add.getRhs()) || accumulate(add, add.getRhs(), add.getLhs());
  }
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<nn::ConstantOp>(op) && op.use_empty()) // initial zeros that have been replaced
      op.erase();
}

namespace {

struct AccumulateInPlace : trainc::impl::AccumulateInPlaceBase<AccumulateInPlace> {
  void runOnOperation() override {
    if (failed(requireConcrete(getOperation())))
      return signalPassFailure();
    getOperation()->walk([](Operation *op) {
      if (isa<train::EntryOp, FunctionOpInterface>(op) && op->getNumRegions() == 1 &&
          !op->getRegion(0).empty())
        accumulateIn(op->getRegion(0).front());
    });
  }
};

} // namespace
