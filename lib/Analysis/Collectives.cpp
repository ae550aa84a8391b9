#include "lib/Analysis/Collectives.h"

using namespace mlir;

namespace trainc {

Operation *waitOf(CollectiveOpInterface start) { return *start->getResult(0).getUsers().begin(); }

LogicalResult requireInEntry(CollectiveOpInterface start) {
  if (isa<train::EntryOp>(start->getParentOp()))
    return success();
  return start->emitOpError("stands in a loop; expected it in the entry, where all ranks come to it once");
}

train::StateOp gatheredState(CollectiveOpInterface start) {
  auto get = start->getOperand(0).getDefiningOp<train::GetOp>();
  if (!get || !isGather(start))
    return nullptr;
  auto state = SymbolTable::lookupNearestSymbolFrom<train::StateOp>(start, get.getStateAttr());
  return state && state.getRole() == train::StateRole::parameter ? state : nullptr;
}

bool isBefore(Operation *a, Operation *b) { return a != b && b && (!a || a->isBeforeInBlock(b)); }

} // namespace trainc
