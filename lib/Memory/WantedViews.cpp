#include "lib/Memory/WantedViews.h"

#include "lib/Analysis/HostOps.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Memory/OffloadedStates.h"
#include "lib/Support/UseOrder.h"

using namespace mlir;

namespace trainc {

View WantedViews::orScratch(OpResult value) {
  const View wanted = of(value);
  return wanted.isNull() ? assignment_.newScratch(value) : wanted;
}

/// `value` is, or contains, the value `made`, which is computed first.
View WantedViews::of(Value value, OpResult made) {
  if (View inLoopResult = yielded_.lookup(value);
      !inLoopResult.isNull() && occupancy_.isFree(inLoopResult, made))
    return inLoopResult;
  for (OpOperand *use : usesFromLast(value))
    if (View wanted = byUser(*use, made); !wanted.isNull())
      return wanted;
  return {};
}

View WantedViews::byUser(OpOperand &use, OpResult made) {
  Operation *user = use.getOwner();
  if (auto set = dyn_cast<train::SetOp>(user)) {
    if (storages_.isOffloaded(set.getState()) && !isMadeOnHost(set))
      return {};
    const View state = pieceOf(set, storages_);
    return occupancy_.isFree(state, made) && occupancy_.canMakeInState(made, set.getState(), state, set)
               ? state
               : View();
  }
  auto executable = dyn_cast<ExecutableOpInterface>(user);
  if (!executable)
    return {};
  if (isAlias(user) && offsetOf(executable.getFlatOffset(0), use.get()) == View())
    return of(user->getResult(0), made);
  if (isPack(user))
    return packed(use, made);
  if (isGather(user))
    return of(user->getResult(0), made).movedBy(partOf(cast<CollectiveOpInterface>(user)));
  for (OpResult result : user->getResults())
    if (executable.getInPlaceOperand(result.getResultNumber()) == int(use.getOperandNumber()) &&
        use.get().hasOneUse())
      return of(result, made);
  return {};
}

/// Returns a member's view in its flat tensor. The first member decides the view of the flat tensor.
View WantedViews::packed(OpOperand &member, OpResult made) {
  auto pack = cast<ExecutableOpInterface>(member.getOwner());
  Value flat = pack->getResult(0);
  if (assignment_.view(flat).isNull()) {
    const View wanted = of(flat, made);
    occupancy_.bind(flat, wanted.isNull() ? assignment_.newScratch(flat) : wanted);
  }
  return assignment_.view(flat).movedBy(
      offsetOf(pack.getFlatOffset(member.getOperandNumber()), member.get()));
}

} // namespace trainc
