#include "lib/Optimizer/StepSymbols.h"

using namespace mlir;
using namespace trainc;

StepSymbols::StepSymbols(ModuleOp module) : module(module), table(module) {
  for (auto state : module.getOps<train::StateOp>())
    lastState = state;
}

train::StateOp StepSymbols::declareState(StringRef name, train::StateRole role, RankedTensorType type) {
  if (train::StateOp existing = state(name))
    return existing;
  OpBuilder builder(module.getBodyRegion());
  if (lastState)
    builder.setInsertionPointAfter(lastState);
  auto made = train::StateOp::create(builder, module.getLoc(), name, role, type);
  table.insert(made);
  lastState = made;
  return made;
}

train::StateOp StepSymbols::declareScalar(HostScalar scalar) {
  if (train::StateOp existing = train::findScalar(module, scalar))
    return existing;
  train::StateOp made = declareState(stringifyHostScalar(scalar), train::StateRole::scalar,
                                     typeOf(scalar, module.getContext()));
  made.setScalar(scalar);
  return made;
}

train::EntryOp StepSymbols::declareEntry(EntryKind kind, Operation *after) {
  if (auto existing = findEntry<train::EntryOp>(module, kind))
    return existing;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(after);
  auto entry = train::EntryOp::create(builder, module.getLoc(), kind);
  entry.getBody().emplaceBlock();
  table.insert(entry);
  return entry;
}

train::EntryOp StepSymbols::cloneEntry(train::EntryOp entry, EntryKind kind) {
  train::EntryOp copy = entry.clone();
  copy.setKind(kind);
  copy.setSymName(stringifyEntryKind(kind));
  table.insert(copy, std::next(entry->getIterator()));
  return copy;
}
