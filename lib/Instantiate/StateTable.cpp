#include "lib/Instantiate/StateTable.h"

#include "dialects/Train/Parameters.h"

using namespace mlir;
using namespace trainc;

StateTable::StateTable(ModuleOp module) : module(module) {
  for (auto program : module.getOps<train::ProgramOp>())
    byName[program.getSymName()] = lastState = program;
}

train::StateOp StateTable::declare(Location loc, StringRef name, train::StateRole role,
                                   RankedTensorType type) {
  if (role == train::StateRole::parameter && name.empty()) {
    emitError(loc) << "a parameter needs a name, e.g. nn.parameter \"gain\" tensor<8xf32>";
    return {};
  }
  if (role == train::StateRole::parameter && train::isReservedName(name)) {
    emitError(loc) << "a parameter cannot be named '" << name << "', which is a reserved name; rename it";
    return {};
  }
  Operation *&taken = byName[name];
  if (taken) {
    InFlightDiagnostic error = emitError(loc)
                               << "the name '" << name << "' is taken by a " << taken->getName();
    error.attachNote(taken->getLoc()) << "it is here";
    return {};
  }
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(lastState);
  auto state = train::StateOp::create(builder, loc, name, role, type);
  taken = lastState = state;
  return state;
}

train::StateOp StateTable::scalar(HostScalar scalar, std::optional<int64_t> count) {
  StringRef name = stringifyHostScalar(scalar);
  if (train::StateOp state = lookup(name))
    return state;
  RankedTensorType type = typeOf(scalar, module.getContext());
  if (count)
    type = RankedTensorType::get({*count}, type.getElementType());
  train::StateOp state = declare(module.getLoc(), name, train::StateRole::scalar, type);
  state.setScalar(scalar);
  return state;
}

train::StateOp StateTable::lookup(StringRef name) const {
  return dyn_cast_or_null<train::StateOp>(byName.lookup(name));
}

void StateTable::revertTo(const StateTable &before) {
  for (auto &[name, op] : byName)
    if (!before.byName.contains(name))
      op->erase();
  *this = before;
}

train::EntryOp StateTable::createEntry(EntryKind kind) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto entry = train::EntryOp::create(builder, module.getLoc(), kind);
  entry.getBody().emplaceBlock();
  byName[entry.getSymName()] = entry;
  return entry;
}

Value trainc::getState(OpBuilder &builder, Location loc, train::StateOp state) {
  return train::GetOp::create(builder, loc, state.getType(), state.getSymName());
}

void trainc::setState(OpBuilder &builder, Location loc, train::StateOp state, Value value) {
  train::SetOp::create(builder, loc, state.getSymName(), value);
}
