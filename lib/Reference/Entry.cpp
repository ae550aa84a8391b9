#include "lib/Reference/Entry.h"
#include "lib/Reference/Registry.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

EntryMemory::EntryMemory(ModuleOp module) {
  for (auto state : module.getOps<train::StateOp>())
    states.emplace(state.getSymName().str(), cast<RankedTensorType>(state.getType()));
}

LogicalResult trainc::reference::runEntry(ModuleOp module, StringRef name, EntryMemory &memory) {
  for (auto entry : module.getOps<train::EntryOp>())
    if (entry.getSymName() == name)
      return runBlock(entry.getBody().front(), {}, &memory);
  return module.emitError("has no train.entry @") << name;
}

namespace {

FailureOr<Tensors> getState(train::GetOp op, Frame &frame) {
  auto state = frame.memory()->states.find(op.getState());
  if (state == frame.memory()->states.end())
    return op.emitOpError("reads the undefined state @") << op.getState();
  return Tensors{state->second};
}

FailureOr<Tensors> setState(train::SetOp op, Frame &frame) {
  auto state = frame.memory()->states.find(op.getState());
  if (state == frame.memory()->states.end())
    return op.emitOpError("writes the undefined state @") << op.getState();
  state->second = frame[op.getValue()];
  return Tensors{};
}

Tensors markBorder(train::BorderOp, Frame &) { return {}; }

FailureOr<Tensors> addGradient(train::GradientOp op, Frame &frame) {
  const Tensor &value = frame[op.getValue()];
  auto [sum, isFirst] = frame.memory()->gradients.try_emplace(op.getParameter().str(), value);
  if (!isFirst)
    for (int64_t i = 0; i < value.elements(); ++i)
      sum->second.reals[i] += value.reals[i];
  return Tensors{};
}

FailureOr<Tensors> readInput(train::InputOp op, Frame &frame) {
  bool isMicro = op.getExtent() == BatchExtent::micro;
  NamedTensors &columns = isMicro ? frame.memory()->microColumns : frame.memory()->stepColumns;
  auto column = columns.find(op.getColumn());
  if (column == columns.end())
    return op.emitOpError("was given no column '") << op.getColumn() << "'";
  if (column->second.type() != op.getResult().getType())
    return op.emitOpError("was given a column of type ") << column->second.type();
  for (int64_t value : column->second.integers)
    if (op.getLimit() != 0 && value != int64_t(op.getIgnore()) &&
        (value < 0 || value >= int64_t(op.getLimit())))
      return op.emitOpError("was given the value ") << value << ", not below " << op.getLimit();
  return Tensors{column->second};
}

} // namespace

void trainc::reference::registerEntry(Registry &registry) {
  registry.add<train::GetOp>(getState);
  registry.add<train::SetOp>(setState);
  registry.add<train::BorderOp>(markBorder);
  registry.add<train::GradientOp>(addGradient);
  registry.add<train::InputOp>(readInput);
}
