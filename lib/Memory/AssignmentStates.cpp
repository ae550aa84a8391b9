// Copies between scratch and offloaded states.
#include "lib/Analysis/CopyAttributes.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Memory/Assignment.h"

using namespace mlir;

namespace trainc {

/// Returns the stream of copies from or to a space.
static plan::Stream streamOf(plan::Space space, bool fetches) {
  if (space == plan::Space::disk)
    return plan::Stream::disk;
  return fetches ? plan::Stream::copy_in : plan::Stream::copy_out;
}

/// Returns the view of the piece of a state that `op` reads or writes.
template <typename Op> static View pieceIn(Op op, Value piece, const StorageTable &storages) {
  const Type element = cast<RankedTensorType>(piece.getType()).getElementType();
  return {.storage = storages.stateStorage(op.getState()),
          .offset = int64_t(op.getOffset()) * elementBytes(element)};
}

View Assignment::pieceOf(train::GetOp get) { return pieceIn(get, get.getResult(), storages_); }
View Assignment::pieceOf(train::SetOp set) { return pieceIn(set, set.getValue(), storages_); }

/// Whether the value is fetched from an offloaded state, or stored to one.
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

/// A disk transfers whole blocks, so that the value's storage must have room for the last block.
void Assignment::alignTransfer(View value, View state) {
  if (storages_[state.storage].space == plan::Space::disk)
    storages_.alignForDisk(value.storage);
}

/// If a device state is set to a value fetched from the host, the value is fetched directly into the state.
View Assignment::fetchedInState(train::GetOp get, View from) {
  auto result = cast<OpResult>(get.getResult());
  auto set = result.hasOneUse() ? dyn_cast<train::SetOp>(*result.getUsers().begin()) : train::SetOp();
  if (!set || storages_[from.storage].space != plan::Space::host || storages_.isOffloaded(set.getState()))
    return {};
  const View state{storages_.stateStorage(set.getState())};
  const View known = storages_[state.storage].fetched;
  const bool isPlace = known.isNull() || known == from; // a buffer has one source
  return isPlace && isFree(state, result) && canMakeInState(result, set.getState(), state, set) ? state
                                                                                                : View();
}

/// The copy starts here and overlaps with the following ops.
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

/// Returns the value's view if it begins a storage; for a disk this must be scratch, which has room for whole
/// blocks. Otherwise copies the value and returns the copy's view.
View Assignment::ownStorage(Operation *op, Value value, plan::Space destination) {
  const View view = views_.lookup(value);
  const bool isAnyStorage = destination == plan::Space::host;
  if ((isAnyStorage || !storages_[view.storage].persistent) && view == View{view.storage})
    return view;
  const View copy = newScratch(value);
  before_[op].push_back({view, copy, bytesOf(value)});
  return copy;
}

/// Ops that reuse the memory are ordered after the copy (see order-streams).
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

/// Values of host ops must be in host states, where only copies from the device write them, and nothing may
/// be overwritten that a host op still reads.
LogicalResult Assignment::checkHostOps(train::EntryOp entry) const {
  const auto isOnHost = [&](Value value) {
    const View view = views_.lookup(value); // zeros may have none
    return !view.isNull() && storages_[view.storage].space == plan::Space::host;
  };
  for (Operation &op : entry.getBody().front()) {
    auto get = dyn_cast<train::GetOp>(op);
    train::SetOp next = get && isReadOnHost(get) ? order_.writeAfter(get.getState(), get) : train::SetOp();
    if (next && timeline_.begin(next) < timeline_.lastUse(get.getResult()))
      return get.emitOpError("is read on the host after a write of ")
             << get.getState() << "; compile with --offload-update=device";
    auto set = dyn_cast<train::SetOp>(op);
    const bool isElsewhere =
        set && isMadeOnHost(set) && views_.lookup(set.getValue()) != pieceIn(set, set.getValue(), storages_);
    const bool isApart = runsOnHost(&op) && (!scratch(&op).empty() || !movesBefore(&op).empty() ||
                                             !llvm::all_of(op.getOperands(), isOnHost) ||
                                             !llvm::all_of(op.getResults(), isOnHost));
    if (isElsewhere || isApart)
      return op.emitOpError(
          "runs on the host, but its operands or results are not in host memory; compile with "
          "--offload-update=device");
  }
  return success();
}

} // namespace trainc
