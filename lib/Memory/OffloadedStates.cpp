#include "lib/Memory/OffloadedStates.h"

#include "lib/Analysis/CopyAttributes.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"

using namespace mlir;

namespace trainc {

/// Returns the stream of copies from or to a space.
static plan::Stream streamOf(plan::Space space, bool fetches) {
  if (space == plan::Space::disk)
    return plan::Stream::disk;
  return fetches ? plan::Stream::copy_in : plan::Stream::copy_out;
}

template <typename Op> static View pieceIn(Op op, Value piece, const StorageTable &storages) {
  const Type element = cast<RankedTensorType>(piece.getType()).getElementType();
  return {.storage = storages.stateStorage(op.getState()),
          .offset = int64_t(op.getOffset()) * elementBytes(element)};
}

View pieceOf(train::GetOp get, const StorageTable &storages) {
  return pieceIn(get, get.getResult(), storages);
}
View pieceOf(train::SetOp set, const StorageTable &storages) {
  return pieceIn(set, set.getValue(), storages);
}

bool isFetched(Value value, const StorageTable &storages) {
  auto get = value.getDefiningOp<train::GetOp>();
  return get && storages.isOffloaded(get.getState()) && !isReadOnHost(get);
}

bool isStored(Value value, const StorageTable &storages) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto set = dyn_cast<train::SetOp>(user);
    return set && storages.isOffloaded(set.getState()) && !isMadeOnHost(set);
  });
}

void OffloadedStates::assignGet(train::GetOp get) {
  if (isReadOnHost(get))
    occupancy_.bind(get.getResult(), pieceOf(get, storages_));
  else
    fetch(get);
}

void OffloadedStates::assignSet(train::SetOp set) {
  if (!isMadeOnHost(set))
    store(set);
}

/// A disk transfers whole blocks, so that the value's storage must have room for the last block.
void OffloadedStates::alignTransfer(View value, View state) {
  if (storages_[state.storage].space == plan::Space::disk)
    storages_.alignForDisk(value.storage);
}

/// If a device state is set to a value fetched from the host, the value is fetched directly into the state.
View OffloadedStates::fetchedInState(train::GetOp get, View from) {
  auto result = cast<OpResult>(get.getResult());
  auto set = result.hasOneUse() ? dyn_cast<train::SetOp>(*result.getUsers().begin()) : train::SetOp();
  if (!set || storages_[from.storage].space != plan::Space::host || storages_.isOffloaded(set.getState()))
    return {};
  const View state{storages_.stateStorage(set.getState())};
  const View known = storages_[state.storage].fetched;
  const bool isPlace = known.isNull() || known == from; // a buffer has one source
  return isPlace && occupancy_.isFree(state, result) &&
                 occupancy_.canMakeInState(result, set.getState(), state, set)
             ? state
             : View();
}

/// The copy starts here and overlaps with the following ops.
void OffloadedStates::fetch(train::GetOp get) {
  Value value = get.getResult();
  const View state = pieceOf(get, storages_);
  const plan::Stream stream = streamOf(storages_[state.storage].space, /*fetches=*/true);
  if (const View wanted = fetchedInState(get, state); !wanted.isNull()) {
    occupancy_.bind(value, wanted);
    storages_[wanted.storage].fetched = state;
    assignment_.moveAfter(get, {state, wanted, paddedBytes(value), stream});
    return;
  }
  const View copy = assignment_.newScratch(value);
  occupancy_.bind(value, copy);
  alignTransfer(copy, state);
  storages_[copy.storage].fetched = state;
  storages_[copy.storage].earliest = assignment_.timeline().earliest(get);
  assignment_.addFetch(get, copy.storage);
  assignment_.moveAfter(get, {state, copy, paddedBytes(value), stream});
}

/// Returns the value's view if it begins a storage; for a disk this must be scratch, which has room for whole
/// blocks. Otherwise copies the value and returns the copy's view.
View OffloadedStates::ownStorage(Operation *op, Value value, plan::Space destination) {
  const View view = assignment_.view(value);
  const bool isAnyStorage = destination == plan::Space::host;
  if ((isAnyStorage || !storages_[view.storage].persistent) && view == View{view.storage})
    return view;
  const View copy = assignment_.newScratch(value);
  assignment_.moveBefore(op, {view, copy, paddedBytes(value)});
  return copy;
}

/// Ops that reuse the memory are ordered after the copy (see order-streams).
void OffloadedStates::store(train::SetOp set) {
  Value value = set.getValue();
  if (isZero(value))
    occupancy_.makeZero(set, value);
  const View state = pieceOf(set, storages_), from = ownStorage(set, value, storages_[state.storage].space);
  alignTransfer(from, state);
  if (std::vector<View> &stored = storages_[from.storage].stored; !llvm::is_contained(stored, state))
    stored.push_back(state);
  if (auto outlasts = set->getAttrOfType<IntegerAttr>(kOutlastsAttr))
    storages_[from.storage].outlasts = std::max(storages_[from.storage].outlasts, outlasts.getInt());
  assignment_.moveBefore(
      set, {from, state, paddedBytes(value), streamOf(storages_[state.storage].space, /*fetches=*/false)});
}

// --- Ops of the host ---

/// Values of host ops must be in host states, where only copies from the device write them, and nothing may
/// be overwritten that a host op still reads.
LogicalResult checkHostOps(train::EntryOp entry, const Assignment &assignment, const StorageTable &storages) {
  const Timeline &timeline = assignment.timeline();
  const auto isOnHost = [&](Value value) {
    const View view = assignment.view(value); // zeros may have none
    return !view.isNull() && storages[view.storage].space == plan::Space::host;
  };
  for (Operation &op : entry.getBody().front()) {
    auto get = dyn_cast<train::GetOp>(op);
    train::SetOp next =
        get && isReadOnHost(get) ? assignment.stateOrder().writeAfter(get.getState(), get) : train::SetOp();
    if (next && timeline.begin(next) < timeline.lastUse(get.getResult()))
      return get.emitOpError("is read on the host after a write of ")
             << get.getState() << "; compile with --offload-update=device";
    auto set = dyn_cast<train::SetOp>(op);
    const bool isElsewhere =
        set && isMadeOnHost(set) && assignment.view(set.getValue()) != pieceOf(set, storages);
    const bool isApart =
        runsOnHost(&op) &&
        (!assignment.scratch(&op).empty() || !assignment.movesBefore(&op).empty() ||
         !llvm::all_of(op.getOperands(), isOnHost) || !llvm::all_of(op.getResults(), isOnHost));
    if (isElsewhere || isApart)
      return op.emitOpError(
          "runs on the host, but its operands or results are not in host memory; compile with "
          "--offload-update=device");
  }
  return success();
}

} // namespace trainc
