// Copies between scratch and states outside the device's memory.
#include "lib/Analysis/CopyAttributes.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Memory/Assignment.h"

using namespace mlir;

namespace trainc {

/// The stream of copies from or to such a space.
static plan::Stream streamOf(plan::Space space, bool fetches) {
  if (space == plan::Space::disk)
    return plan::Stream::disk;
  return fetches ? plan::Stream::copy_in : plan::Stream::copy_out;
}

/// Where the piece of a state begins that `op` reads or writes.
template <typename Op> static View pieceIn(Op op, Value piece, const StorageTable &storages) {
  const Type element = cast<RankedTensorType>(piece.getType()).getElementType();
  return {.storage = storages.stateStorage(op.getState()),
          .offset = int64_t(op.getOffset()) * elementBytes(element)};
}

View Assignment::pieceOf(train::GetOp get) { return pieceIn(get, get.getResult(), storages_); }
View Assignment::pieceOf(train::SetOp set) { return pieceIn(set, set.getValue(), storages_); }

/// Whether it comes from outside the device's memory, or goes there.
bool Assignment::isFetched(Value value) const {
  auto get = value.getDefiningOp<train::GetOp>();
  return get && storages_.isOffloaded(get.getState()) && !isReadOnHost(get);
}

bool Assignment::isStored(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto set = dyn_cast<train::SetOp>(user);
    return set && storages_.isOffloaded(set.getState()) && !isMadeOnHost(set);
  });
}

/// A disk moves whole blocks: the value's storage has room for the last one.
void Assignment::alignTransfer(View value, View state) {
  if (storages_[state.storage].space == plan::Space::disk)
    storages_.alignForDisk(value.storage);
}

/// A state of the device that takes all of what the host has made gets it at once.
View Assignment::fetchedInState(train::GetOp get, View from) {
  auto result = cast<OpResult>(get.getResult());
  auto set = result.hasOneUse() ? dyn_cast<train::SetOp>(*result.getUsers().begin()) : train::SetOp();
  if (!set || storages_[from.storage].space != plan::Space::host || storages_.isOffloaded(set.getState()))
    return {};
  const View state{storages_.stateStorage(set.getState())};
  const View known = storages_[state.storage].fetched;
  const bool isPlace = known.isNull() || known == from; // a buffer says one
  return isPlace && isFree(state, result) && canMakeInState(result, set.getState(), state, set) ? state
                                                                                                : View();
}

/// From here on, beside what follows.
void Assignment::fetch(train::GetOp get) {
  Value value = get.getResult();
  const View state = pieceOf(get);
  const plan::Stream stream = streamOf(storages_[state.storage].space, /*fetches=*/true);
  if (const View wanted = fetchedInState(get, state); !wanted.isNull()) {
    bind(value, wanted);
    storages_[wanted.storage].fetched = state;
    after_[get].push_back({state, wanted, bytesOf(value), stream});
    return;
  }
  const View copy = newScratch(value);
  bind(value, copy);
  alignTransfer(copy, state);
  storages_[copy.storage].fetched = state;
  storages_[copy.storage].earliest = timeline_.earliest(get);
  fetches_.push_back({get, copy.storage});
  after_[get].push_back({state, copy, bytesOf(value), stream});
}

/// The value's place if it begins a storage, for a disk one of scratch, which has room for whole blocks; else
/// that of a copy of it.
View Assignment::ownStorage(Operation *op, Value value, plan::Space destination) {
  const View view = views_.lookup(value);
  const bool isAnyStorage = destination == plan::Space::host;
  if ((isAnyStorage || !storages_[view.storage].persistent) && view == View{view.storage})
    return view;
  const View copy = newScratch(value);
  before_[op].push_back({view, copy, bytesOf(value)});
  return copy;
}

/// Who uses the memory anew waits for the copy (see order-streams).
void Assignment::store(train::SetOp set) {
  Value value = set.getValue();
  if (isZero(value))
    makeZero(set, value);
  const View state = pieceOf(set), from = ownStorage(set, value, storages_[state.storage].space);
  alignTransfer(from, state);
  if (std::vector<View> &stored = storages_[from.storage].stored; !llvm::is_contained(stored, state))
    stored.push_back(state);
  if (auto outlasts = set->getAttrOfType<IntegerAttr>(kOutlastsAttr))
    storages_[from.storage].outlasts = std::max(storages_[from.storage].outlasts, outlasts.getInt());
  before_[set].push_back(
      {from, state, bytesOf(value), streamOf(storages_[state.storage].space, /*fetches=*/false)});
}

// --- Ops of the host ---

/// Its values lie in states of the host's memory, where no copy brings them but from the device, and nothing
/// else is written over what it still reads.
LogicalResult Assignment::checkHostOps(train::EntryOp entry) const {
  const auto liesOnHost = [&](Value value) {
    const View view = views_.lookup(value); // zeros may have none
    return !view.isNull() && storages_[view.storage].space == plan::Space::host;
  };
  for (Operation &op : entry.getBody().front()) {
    auto get = dyn_cast<train::GetOp>(op);
    train::SetOp next = get && isReadOnHost(get) ? order_.writeBehind(get.getState(), get) : train::SetOp();
    if (next && timeline_.begin(next) < timeline_.lastUse(get.getResult()))
      return get.emitOpError("is read on the host behind a write of ")
             << get.getState() << "; compile with --offload-update=device";
    auto set = dyn_cast<train::SetOp>(op);
    const bool isElsewhere =
        set && isMadeOnHost(set) && views_.lookup(set.getValue()) != pieceIn(set, set.getValue(), storages_);
    const bool isApart = runsOnHost(&op) && (!scratch(&op).empty() || !movesBefore(&op).empty() ||
                                             !llvm::all_of(op.getOperands(), liesOnHost) ||
                                             !llvm::all_of(op.getResults(), liesOnHost));
    if (isElsewhere || isApart)
      return op.emitOpError(
          "runs on the host, and what it reads or computes has no place in the host's memory; compile with "
          "--offload-update=device");
  }
  return success();
}

} // namespace trainc
