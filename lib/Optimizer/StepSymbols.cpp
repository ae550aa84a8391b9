#include "lib/Optimizer/StepSymbols.h"

using namespace mlir;
using namespace trainc;

StepSymbols::StepSymbols(ModuleOp module) : module(module), table(module) {
  for (auto state : module.getOps<train::StateOp>())
    lastState = state;
}

train::StateOp StepSymbols::declareState(StringRef name, train::Role role, RankedTensorType type,
                                         std::optional<train::Direction> direction) {
  if (train::StateOp existing = state(name))
    return existing;
  OpBuilder builder(module.getBodyRegion());
  if (lastState)
    builder.setInsertionPointAfter(lastState);
  auto made = train::StateOp::create(builder, module.getLoc(), name, role, type);
  made.setDirection(direction);
  table.insert(made);
  lastState = made;
  return made;
}

train::EntryOp StepSymbols::declareEntry(StringRef name, Operation *after) {
  if (auto existing = table.lookup<train::EntryOp>(name))
    return existing;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(after);
  auto entry = train::EntryOp::create(builder, module.getLoc(), name);
  entry.getBody().emplaceBlock();
  table.insert(entry);
  return entry;
}

train::EntryOp StepSymbols::cloneEntry(train::EntryOp entry, StringRef name) {
  train::EntryOp copy = entry.clone();
  copy.setSymName(name);
  table.insert(copy, std::next(entry->getIterator()));
  return copy;
}
