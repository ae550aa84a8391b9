#include "lib/Analysis/ForwardOps.h"

#include "lib/Analysis/StateOrder.h"

using namespace mlir;

namespace trainc {

llvm::DenseSet<Operation *> forwardOps(train::EntryOp entry) {
  Block &block = entry.getBody().front();
  llvm::DenseSet<Operation *> forward;
  SmallVector<Operation *> found;
  auto visit = [&](Operation *op) {
    if (forward.insert(op).second)
      found.push_back(op);
  };
  const StateOrder order(block);
  if (train::StateOp loss = train::findScalar(entry->getParentOfType<ModuleOp>(), HostScalar::loss))
    for (train::SetOp set : order.writes(loss.getSymName()))
      visit(set);
  for (auto marker : block.getOps<train::BlockUseOp>())
    forward.insert(marker); // the backward reads nothing through a marker
  while (!found.empty()) {
    Operation *op = found.pop_back_val();
    for (Value operand : op->getOperands())
      visit(operand.getDefiningOp());
    if (auto get = dyn_cast<train::GetOp>(op))
      if (train::SetOp set = writeSeenBy(get))
        visit(set);
  }
  return forward;
}

} // namespace trainc
