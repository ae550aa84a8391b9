#include "lib/Memory/Metadata.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace trainc {

static void emitStates(OpBuilder &builder, ModuleOp module, const StorageTable &storages,
                       ArrayRef<FlatSymbolRefAttr> buffers) {
  for (auto state : module.getOps<train::StateOp>()) {
    StringRef buffer = buffers[storages.stateStorage(state.getSymName())].getValue();
    auto type = cast<RankedTensorType>(state.getType());
    if (state.getRole() == train::Role::parameter)
      plan::StateOp::create(builder, state.getLoc(), state.getSymName(), buffer, type, plan::Role::parameter);
    if (state.getRole() == train::Role::optimizer)
      plan::StateOp::create(builder, state.getLoc(), state.getSymName(), buffer, type, plan::Role::optimizer);
    if (auto direction = state.getDirection())
      plan::ScalarOp::create(builder, state.getLoc(), state.getSymName(), buffer, type.getElementType(),
                             *direction == train::Direction::to_device ? plan::Direction::to_device
                                                                       : plan::Direction::from_device);
  }
}

static plan::ScheduleKind scheduleKind(train::ScheduleKind kind) {
  switch (kind) {
  case train::ScheduleKind::constant:
    return plan::ScheduleKind::constant;
  case train::ScheduleKind::linear:
    return plan::ScheduleKind::linear;
  case train::ScheduleKind::cosine:
    return plan::ScheduleKind::cosine;
  }
  llvm_unreachable("unknown schedule");
}

static void emitTraining(OpBuilder &builder, train::ProgramOp program) {
  train::ScheduleAttr schedule = program.getSchedule();
  int64_t microBatch = program.getMicroBatch().value_or(0);
  plan::TrainingOp::create(builder, program.getLoc(), microBatch, program.getAccumulate(),
                           program.getSeqLen().value_or(0), program.getSteps().value_or(0),
                           program.getEvalBatch().value_or(microBatch), scheduleKind(schedule.getKind()),
                           program.getOptimizer().getLr().getValue(), schedule.getMinimum().getValue(),
                           schedule.getWarmup(), schedule.getTotal());
}

static void emitGeneration(OpBuilder &builder, ModuleOp module, const StorageTable &storages,
                           ArrayRef<FlatSymbolRefAttr> buffers) {
  auto logits = module.lookupSymbol<train::StateOp>("logits");
  auto prefill = module.lookupSymbol<train::EntryOp>("prefill");
  if (!logits || !prefill)
    return;
  int64_t vocabulary = cast<RankedTensorType>(logits.getType()).getNumElements();
  for (auto input : prefill.getOps<train::InputOp>())
    plan::GenerationOp::create(builder, logits.getLoc(),
                               cast<RankedTensorType>(input.getResult().getType()).getShape().back(),
                               vocabulary, buffers[storages.stateStorage("logits")].getValue());
}

/// The JSON value of an attribute, one of those that verifyExports lets pass; unit is null.
static llvm::json::Value toJson(Attribute attr) {
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return boolean.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getType().isUnsignedInteger() ? llvm::json::Value(integer.getValue().getZExtValue())
                                                 : integer.getValue().getSExtValue();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(attr))
    return text.getValue();
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    llvm::json::Array values;
    for (Attribute element : array)
      values.push_back(toJson(element));
    return values;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    llvm::json::Object object;
    for (NamedAttribute entry : dictionary)
      object[entry.getName().getValue()] = toJson(entry.getValue());
    return object;
  }
  return nullptr;
}

static void emitExports(OpBuilder &builder, train::ProgramOp program) {
  DictionaryAttr exports = program.getExportsAttr();
  if (!exports)
    return;
  for (NamedAttribute file : exports) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", toJson(file.getValue()));
    plan::ExportOp::create(builder, program.getLoc(), file.getName().getValue(), text);
  }
}

LogicalResult emitMetadata(OpBuilder &builder, ModuleOp module, const StorageTable &storages,
                           ArrayRef<FlatSymbolRefAttr> buffers) {
  emitStates(builder, module, storages, buffers);
  for (auto program : module.getOps<train::ProgramOp>()) {
    emitTraining(builder, program);
    emitExports(builder, program);
    if (std::optional<StringRef> reason = program.getNoGeneration())
      plan::NoGenerationOp::create(builder, program.getLoc(), *reason);
    module.setName(program.getModel()); // the plan's name
  }
  emitGeneration(builder, module, storages, buffers);
  return success();
}

} // namespace trainc
