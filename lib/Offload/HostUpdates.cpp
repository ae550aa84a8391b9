#include "lib/Offload/HostUpdates.h"

#include "lib/Analysis/HostOps.h"

using namespace mlir;

namespace trainc {

bool HostUpdates::canMove(const Group &group) const {
  const auto isOfOptimizer = [&](auto access) {
    train::StateOp state = stateOf(access.getStateAttr());
    return state.getSpace() == plan::Space::host && state.getRole() == train::StateRole::optimizer;
  };
  const auto standsBeside = [&](Operation *user) { return user->getBlock() == group.op->getBlock(); };
  return isa<nn::KernelOp>(group.op) && llvm::all_of(group.op->getUsers(), standsBeside) &&
         llvm::any_of(group.gets, isOfOptimizer) && llvm::any_of(group.sets, isOfOptimizer) &&
         llvm::all_of(group.sets, isReadBehind);
}

/// Whether who else reads the value stands behind the write, and so finds it in the state.
bool HostUpdates::isReadBehind(train::SetOp set) {
  return llvm::all_of(set.getValue().getUsers(),
                      [&](Operation *user) { return user == set || set->isBeforeInBlock(user); });
}

void HostUpdates::move(const Group &group) {
  auto kernel = cast<nn::KernelOp>(group.op);
  kernel->setAttr(kOnHostAttr, UnitAttr::get(kernel.getContext()));
  const SmallVector<Value> read(kernel.getInputs());
  for (OpOperand &operand : kernel->getOpOperands())
    readOnHost(kernel, operand);
  for (OpResult result : kernel->getResults())
    giveBack(kernel, result, read);
}

/// What lies on the host is read there. Who else reads it fetches it.
void HostUpdates::readOnHost(nn::KernelOp kernel, OpOperand &operand) {
  auto get = operand.get().getDefiningOp<train::GetOp>();
  const bool isThere = get && isOnHost(get.getStateAttr());
  if (isThere && get->hasOneUse())
    return;
  OpBuilder builder(kernel);
  const FlatSymbolRefAttr state = isThere ? get.getStateAttr() : roomOf(operand.get());
  operand.set(train::GetOp::create(builder, kernel.getLoc(), operand.get().getType(), state.getValue(),
                                   isThere ? get.getOffset() : 0)
                  .getResult());
}

/// Where a value of the device is copied to, as soon as it is there.
FlatSymbolRefAttr HostUpdates::roomOf(Value value) {
  train::StateOp &room = copied_[value];
  if (!room) {
    room = rooms_.take(cast<RankedTensorType>(value.getType()));
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    train::SetOp::create(builder, value.getLoc(), room.getSymName(), value);
  }
  return FlatSymbolRefAttr::get(room);
}

/// Others than states on the host fetch the result from its place there, all at once.
void HostUpdates::giveBack(nn::KernelOp kernel, OpResult result, ValueRange read) {
  SmallVector<Operation *> others;
  FlatSymbolRefAttr place;
  for (Operation *user : result.getUsers())
    if (auto set = dyn_cast<train::SetOp>(user); set && isOnHost(set.getStateAttr()))
      place = set.getStateAttr();
    else
      others.push_back(user);
  if (!place) {
    place = placeOf(result, read);
    OpBuilder builder(kernel->getContext());
    builder.setInsertionPointAfter(kernel);
    train::SetOp::create(builder, kernel.getLoc(), place, result);
  }
  if (others.empty())
    return;
  OpBuilder builder(
      *llvm::min_element(others, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); }));
  auto get = train::GetOp::create(builder, kernel.getLoc(), result.getType(), place);
  for (Operation *user : others)
    user->replaceUsesOfWith(result, get);
}

/// A new value of a state takes the room of the old one, of which whoever reads it later needs another copy.
FlatSymbolRefAttr HostUpdates::placeOf(OpResult result, ValueRange read) {
  for (Operation *user : result.getUsers())
    if (auto set = dyn_cast<train::SetOp>(user))
      for (Value value : read)
        if (auto get = value.getDefiningOp<train::GetOp>();
            get && get.getStateAttr() == set.getStateAttr() && copied_.contains(value)) {
          const auto room = FlatSymbolRefAttr::get(copied_.at(value));
          copied_.erase(value);
          return room;
        }
  return FlatSymbolRefAttr::get(rooms_.take(cast<RankedTensorType>(result.getType())));
}

} // namespace trainc
