#include "lib/Memory/Assignment.h"

#include "lib/Analysis/KernelAttributes.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Support/SourceName.h"

using namespace mlir;

namespace trainc {

Assignment::Assignment(train::EntryOp entry, StorageTable &storages)
    : storages_(&storages), timeline_(entry), order_(entry.getBody().front()),
      entryName_(entry.getSymName().str()), firstStorage_(int(storages.size())) {}

ArrayRef<int> Assignment::scratch(Operation *op) const {
  auto found = scratch_.find(op);
  return found == scratch_.end() ? ArrayRef<int>() : ArrayRef<int>(found->second);
}

ArrayRef<Move> Assignment::movesBefore(Operation *op) const {
  auto found = before_.find(op);
  return found == before_.end() ? ArrayRef<Move>() : ArrayRef<Move>(found->second);
}

ArrayRef<Move> Assignment::movesAfter(Operation *op) const {
  auto found = after_.find(op);
  return found == after_.end() ? ArrayRef<Move>() : ArrayRef<Move>(found->second);
}

/// Names the storage after the entry and its number, followed by ".suffix" if there is one.
int Assignment::addStorage(StringRef suffix, int64_t bytes, Type element, plan::Role role) {
  std::string name = entryName_ + "." + std::to_string(int(storages_->size()) - firstStorage_);
  if (!suffix.empty())
    name += "." + suffix.str();
  return scratchStorages_.emplace_back(storages_->add({name, bytes, element, role}));
}

View Assignment::newScratch(Value value) {
  const Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return {addStorage(scopeName(value.getLoc()), paddedBytes(value), storedElement(element),
                     plan::Role::activation)};
}

void Assignment::addScratchOf(Operation *op) {
  if (auto types = op->getAttrOfType<ArrayAttr>(kScratchAttr))
    for (auto type : types.getAsValueRange<TypeAttr>())
      scratch_[op].push_back(addStorage("scratch", tensorBytes(type),
                                        cast<RankedTensorType>(type).getElementType(),
                                        plan::Role::workspace));
}

} // namespace trainc
