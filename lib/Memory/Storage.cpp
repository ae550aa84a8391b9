#include "lib/Memory/Storage.h"

#include "lib/Analysis/RowPadding.h"
#include "plan/schema/limits.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trainc {

static plan::Role bufferRole(train::StateRole role) {
  switch (role) {
  case train::StateRole::parameter:
  case train::StateRole::working:
    return plan::Role::parameter;
  case train::StateRole::gradient:
    return plan::Role::gradient;
  case train::StateRole::optimizer:
  case train::StateRole::chunks:
    return plan::Role::optimizer;
  case train::StateRole::cache:
    return plan::Role::cache;
  case train::StateRole::activation:
    return plan::Role::activation;
  case train::StateRole::scalar:
  case train::StateRole::output:
    return plan::Role::workspace;
  }
  llvm_unreachable("unknown role");
}

View View::movedBy(View inner) const {
  if (isNull() || (axes && inner.axes && axes != inner.axes))
    return {};
  View moved = *this;
  moved.offset += inner.offset;
  moved.rankStep += inner.rankStep;
  moved.axes = axes ? axes : inner.axes;
  return moved;
}

View offsetOf(FlatOffset offset, Value held) {
  const int64_t bytes = elementBytes(cast<RankedTensorType>(held.getType()).getElementType());
  return {.offset = offset.elements * bytes, .rankStep = offset.elementsPerRank * bytes, .axes = offset.axes};
}

View partOf(CollectiveOpInterface gather) {
  return {.rankStep = paddedBytes(gather->getOperand(0)), .axes = gather.getAxesAttr()};
}

bool overlap(View a, int64_t aBytes, View b, int64_t bBytes) {
  if (a.isNull() || a.storage != b.storage)
    return false;
  const bool moveAlike = a.step == b.step && a.rankStep == b.rankStep && a.axes == b.axes;
  return !moveAlike || (a.offset < b.offset + bBytes && b.offset < a.offset + aBytes);
}

StorageTable::StorageTable(ModuleOp module) {
  for (auto state : module.getOps<train::StateOp>()) {
    auto type = cast<RankedTensorType>(state.getType());
    states_[state.getSymName()] =
        add({state.getSymName().str(), tensorBytes(type), storedElement(type.getElementType()),
             bufferRole(state.getRole()), state.getRole() != train::StateRole::activation});
    storages_.back().space = state.getSpace();
  }
}

void StorageTable::alignForDisk(int index) {
  Storage &storage = storages_[index];
  storage.alignment = kDiskAlignment;
  storage.bytes = int64_t(wholeBlocks(storage.bytes));
}

int StorageTable::add(Storage storage) {
  storages_.push_back(std::move(storage));
  return int(storages_.size()) - 1;
}

int StorageTable::inputStorage(train::InputOp input) {
  auto type = cast<RankedTensorType>(input.getResult().getType());
  std::string key;
  llvm::raw_string_ostream(key) << "input." << input.getColumn() << "."
                                << stringifyBatchExtent(input.getExtent()) << "." << type;
  auto [known, isNew] = inputs_.try_emplace(key, int(storages_.size()));
  if (isNew)
    add({key, tensorBytes(type), storedElement(type.getElementType()), plan::Role::input,
         /*persistent=*/true});
  return known->second;
}

} // namespace trainc
