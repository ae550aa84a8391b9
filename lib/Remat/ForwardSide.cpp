#include "lib/Remat/ForwardSide.h"

#include "lib/Analysis/ForwardOps.h"

using namespace mlir;

namespace trainc {

bool isRecomputableView(Operation *op) {
  return isa<RecomputableOpInterface>(op) && isReadThrough(op) &&
         (isView(op) || isa<ElementwiseOpInterface>(op));
}

Value stripViews(Value value) {
  while (isRecomputableView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

ForwardSide::ForwardSide(train::EntryOp entry) : ops_(forwardOps(entry)) {
  Block &block = entry.getBody().front();
  addOutsideLoss(block);
  findUnsaved(block);
}

/// Returns the ops that compute only operands of train.magnitudes.
static llvm::DenseSet<Operation *> opsOfMagnitudes(Block &block) {
  llvm::DenseSet<Operation *> ops;
  for (Operation &op : llvm::reverse(block))
    if (!op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return isa<train::MagnitudesOp>(user) || ops.contains(user);
        }))
      ops.insert(&op);
  return ops;
}

void ForwardSide::addOutsideLoss(Block &block) {
  auto isLast = [&](Operation &op) { return contains(&op) && isa<train::SetOp>(op); };
  auto last = llvm::find_if(llvm::reverse(block), isLast);
  if (last == block.rend())
    return;
  const llvm::DenseSet<Operation *> magnitudes = opsOfMagnitudes(block);
  for (Operation &op : llvm::make_range(block.begin(), last->getIterator()))
    if (!contains(&op) && (isa<nn::ConvertOp>(op) || magnitudes.contains(&op)) &&
        llvm::all_of(op.getOperands(), [&](Value operand) { return contains(operand.getDefiningOp()); })) {
      ops_.insert(&op);
      outsideLoss_.insert(&op);
    }
}

void ForwardSide::findUnsaved(Block &block) {
  for (Operation &op : block) {
    const bool isStored = isa<train::GetOp, train::InputOp>(op);
    const bool isMade = (isa<RecomputableOpInterface>(op) || isView(&op)) &&
                        llvm::all_of(op.getOperands(), [&](Value operand) { return needsNoSaving(operand); });
    if (isStored || isMade)
      unsaved_.insert(op.result_begin(), op.result_end());
  }
}

} // namespace trainc
