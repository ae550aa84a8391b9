#include "lib/Support/UseOrder.h"

#include "mlir/IR/Operation.h"

using namespace mlir;

namespace trainc {

/// Whether `a` comes before `b`, or contains it. Both are inside one block, in regions of its ops.
static bool isBefore(Operation *a, Operation *b) {
  for (Operation *outer = a; outer; outer = outer->getParentOp())
    if (Operation *other = outer->getBlock()->findAncestorOpInBlock(*b))
      return outer == other ? outer == a : outer->isBeforeInBlock(other);
  return false;
}

SmallVector<OpOperand *> usesFromLast(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    uses.push_back(&use);
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    return a->getOwner() == b->getOwner() ? a->getOperandNumber() > b->getOperandNumber()
                                          : isBefore(b->getOwner(), a->getOwner());
  });
  return uses;
}

} // namespace trainc
