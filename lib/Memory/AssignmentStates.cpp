// Copies between scratch and states outside the device's memory.
#include "lib/Analysis/CopyAttributes.h"
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
template <typename Op> static View pieceOf(Op op, Value piece, const StorageTable &storages) {
  const Type element = cast<RankedTensorType>(piece.getType()).getElementType();
  return {.storage = storages.stateStorage(op.getState()),
          .offset = int64_t(op.getOffset()) * elementBytes(element)};
}

/// Whether it comes from outside the device's memory, or goes there.
bool Assignment::isFetched(Value value) const {
  auto get = value.getDefiningOp<train::GetOp>();
  return get && storages_.isOffloaded(get.getState());
}

bool Assignment::isStored(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto set = dyn_cast<train::SetOp>(user);
    return set && storages_.isOffloaded(set.getState());
  });
}

/// A disk moves whole blocks: the value's storage has room for the last one.
void Assignment::alignTransfer(View value, View state) {
  if (storages_[state.storage].space == plan::Space::disk)
    storages_.alignForDisk(value.storage);
}

/// From here on, beside what follows.
void Assignment::fetch(train::GetOp get) {
  Value value = get.getResult();
  const View state = pieceOf(get, value, storages_), copy = newScratch(value);
  bind(value, copy);
  alignTransfer(copy, state);
  storages_[copy.storage].fetched = state;
  storages_[copy.storage].earliest = timeline_.earliest(get);
  fetches_.push_back({get, copy.storage});
  after_[get].push_back(
      {state, copy, bytesOf(value), streamOf(storages_[state.storage].space, /*fetches=*/true)});
}

/// The value's place if it begins a storage of scratch; else that of a copy of it.
View Assignment::ownScratch(Operation *op, Value value) {
  const View view = views_.lookup(value);
  if (!storages_[view.storage].persistent && view == View{view.storage})
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
  const View state = pieceOf(set, value, storages_), from = ownScratch(set, value);
  alignTransfer(from, state);
  storages_[from.storage].stored.push_back(state);
  if (auto outlasts = set->getAttrOfType<IntegerAttr>(kOutlastsAttr))
    storages_[from.storage].outlasts = std::max(storages_[from.storage].outlasts, outlasts.getInt());
  before_[set].push_back(
      {from, state, bytesOf(value), streamOf(storages_[state.storage].space, /*fetches=*/false)});
}

} // namespace trainc
