#include "lib/Support/UseOrder.h"

#include "mlir/IR/Operation.h"

using namespace mlir;

namespace trainc {

/// Returns the number of the region of `ancestor` that contains `op`.
static unsigned regionOf(Operation *op, Operation *ancestor) {
  Region *region = op->getParentRegion();
  while (region->getParentOp() != ancestor)
    region = region->getParentRegion();
  return region->getRegionNumber();
}

bool comesBefore(Operation *a, Operation *b) {
  for (Operation *outer = a; outer; outer = outer->getParentOp())
    if (Operation *other = outer->getBlock()->findAncestorOpInBlock(*b)) {
      if (outer != other)
        return outer->isBeforeInBlock(other);
      return a == outer || (b != outer && regionOf(a, outer) < regionOf(b, outer));
    }
  return false;
}

SmallVector<OpOperand *> usesFromLast(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    return a->getOwner() == b->getOwner() ? a->getOperandNumber() > b->getOperandNumber()
                                          : comesBefore(b->getOwner(), a->getOwner());
  });
  return uses;
}

} // namespace trainc
