#include "lib/Memory/Metadata.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/LossScaling.h"
#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <charconv>

using namespace mlir;

namespace trainc {

/// Adds a state under its name, or a flat state under its members' names. Checkpoints hold whole tensors,
/// which they put together of shards of flat states only.
static LogicalResult emitState(OpBuilder &builder, train::StateOp state, StringRef buffer, plan::Role role,
                               SmallVectorImpl<plan::StateOp> &emitted) {
  const dist::PlacementAttr placement = dist::placementOf(state);
  const int64_t firstRefused = state.getMembers() ? 1 : 0;
  if (placement && llvm::any_of(placement.shardedDims(), [&](int64_t dim) { return dim >= firstRefused; }))
    return state.emitOpError(
        "is sharded, but not flat: checkpoints hold parameters and optimizer states whole "
        "or in shards of flat states");
  const ArrayAttr sharded = dist::isSharded(state) ? placement.axesOfDim(0) : ArrayAttr();
  auto emit = [&](StringRef name, RankedTensorType type, int64_t offset) {
    emitted.push_back(
        plan::StateOp::create(builder, state.getLoc(), name, buffer, type, role, offset, sharded));
  };
  if (!state.getMembers()) {
    emit(state.getSymName(), cast<RankedTensorType>(state.getType()), 0);
    return success();
  }
  for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>())
    emit(member.getName(), member.getType(), member.getOffset());
  return success();
}

/// Checkpoints store states in this order, which must not depend on the layout of flat states.
static void sortByName(SmallVectorImpl<plan::StateOp> &states) {
  if (states.empty())
    return;
  Operation *before = states.front()->getPrevNode();
  llvm::sort(states, [](plan::StateOp a, plan::StateOp b) { return a.getName() < b.getName(); });
  for (plan::StateOp state : llvm::reverse(states))
    state->moveAfter(before);
}

static LogicalResult emitStates(OpBuilder &builder, ModuleOp module, const StorageTable &storages,
                                ArrayRef<FlatSymbolRefAttr> buffers) {
  SmallVector<plan::StateOp> emitted;
  for (auto state : module.getOps<train::StateOp>()) {
    StringRef buffer = buffers[storages.stateStorage(state.getSymName())].getValue();
    auto type = cast<RankedTensorType>(state.getType());
    const bool isParameter = state.getRole() == train::StateRole::parameter;
    if (isParameter || state.getRole() == train::StateRole::optimizer)
      if (failed(emitState(builder, state, buffer,
                           isParameter ? plan::Role::parameter : plan::Role::optimizer, emitted)))
        return failure();
    if (auto scalar = state.getScalar())
      plan::ScalarOp::create(builder, state.getLoc(), stringifyHostScalar(*scalar), buffer,
                             type.getElementType(), directionOf(*scalar), type.getNumElements());
  }
  sortByName(emitted);
  return success();
}

/// Returns the settings in force, for the report.
static ArrayAttr describeSettings(Builder &builder, train::ProgramOp program) {
  SmallVector<Attribute> settings;
  for (const train::SettingInForce &each : train::settingsInForce(program))
    settings.push_back(
        builder.getArrayAttr({builder.getStringAttr(each.word), builder.getStringAttr(each.value),
                              builder.getStringAttr(each.source), builder.getBoolAttr(each.changesNumbers)}));
  return builder.getArrayAttr(settings);
}

/// Steps are skipped with a dynamic scale only.
static bool skippedAdvance(train::ProgramOp program) {
  const std::optional<train::LossScaling> scaling = train::lossScalingOf(program);
  return scaling && scaling->isDynamic() && train::kSkippedSteps.of(program) == train::SkippedSteps::advance;
}

static void emitTraining(OpBuilder &builder, train::ProgramOp program) {
  train::ScheduleAttr schedule = program.getSchedule();
  int64_t microBatch = train::kMicroBatch.given(program).value_or(0);
  auto training = plan::TrainingOp::create(
      builder, program.getLoc(), microBatch, train::kAccumulate.of(program),
      train::kSeqLen.given(program).value_or(0), train::kSteps.given(program).value_or(0),
      train::kEvalBatch.given(program).value_or(microBatch), schedule.getKind(), schedule.getNumbers(),
      program.getOptimizer().getLr().getValue(), schedule.getTotal(), skippedAdvance(program),
      program.getLikelihood(), program.getModelChecksumAttr());
  training->setAttr("train.settings", describeSettings(builder, program));
  if (const std::optional<int64_t> reserved = train::kReserveMemory.given(program))
    training->setAttr("train.reserved", builder.getI64IntegerAttr(*reserved));
  // The following attributes are for the report.
  const bool usesDisk = train::offloadOf(program).space == plan::Space::disk;
  training->setAttr("train.offload_to", builder.getStringAttr(usesDisk ? "disk" : "host"));
  if (train::kRanks.of(program) > 1)
    training->setAttr("train.sharding", train::describeSharding(program));
}

static void emitGeneration(OpBuilder &builder, ModuleOp module, const StorageTable &storages,
                           ArrayRef<FlatSymbolRefAttr> buffers) {
  auto prefill = findEntry<train::EntryOp>(module, EntryKind::prefill);
  auto states = module.getOps<train::StateOp>();
  auto output =
      llvm::find_if(states, [](train::StateOp state) { return state.getRole() == train::StateRole::output; });
  if (!prefill || output == states.end())
    return;
  train::StateOp logits = *output;
  // [vocabulary], or [batch, vocabulary]
  ArrayRef<int64_t> shape = cast<RankedTensorType>(logits.getType()).getShape();
  const int64_t vocabulary = shape.back(), batch = shape.size() == 1 ? 1 : shape.front();
  for (auto input : prefill.getOps<train::InputOp>())
    plan::GenerationOp::create(
        builder, logits.getLoc(), cast<RankedTensorType>(input.getResult().getType()).getShape().back(),
        vocabulary, buffers[storages.stateStorage(logits.getSymName())].getValue(), batch);
}

/// Returns the shortest decimal form that parses to `value` as a Float.
template <typename Float> static std::string shortest(Float value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0"; // otherwise it would parse as an integer
  return text;
}

static std::string shortest(FloatAttr number) {
  double value = number.getValueAsDouble();
  return number.getType().isF64() ? shortest(value) : shortest(static_cast<float>(value));
}

/// Writes an attribute that verifyExports accepts as a JSON value; unit is null.
static void writeJson(llvm::json::OStream &json, Attribute attr) {
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return json.value(boolean.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return integer.getType().isUnsignedInteger() ? json.value(integer.getValue().getZExtValue())
                                                 : json.value(integer.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(attr))
    return json.rawValue(shortest(number));
  if (auto text = dyn_cast<StringAttr>(attr))
    return json.value(text.getValue());
  if (auto array = dyn_cast<ArrayAttr>(attr))
    return json.array([&] {
      for (Attribute element : array)
        writeJson(json, element);
    });
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr))
    return json.object([&] {
      for (NamedAttribute entry : dictionary) { // sorted
        json.attributeBegin(entry.getName().getValue());
        writeJson(json, entry.getValue());
        json.attributeEnd();
      }
    });
  json.value(nullptr);
}

/// Whether checkpoints have no f32 parameters.
static bool holdsParametersInBf16(ModuleOp module) {
  return llvm::all_of(module.getOps<train::StateOp>(), [](train::StateOp state) {
    const Type element = cast<RankedTensorType>(state.getType()).getElementType();
    return state.getRole() != train::StateRole::parameter || !isa<FloatType>(element) || element.isBF16();
  });
}

/// A Hugging Face `config.json` states the type of the weights. A model's text says float32, even if the
/// program stores parameters in bf16.
static DictionaryAttr withTypeBf16(DictionaryAttr config) {
  NamedAttrList entries(config);
  for (StringRef key : {"dtype", "torch_dtype"}) // since transformers 5, and before
    if (auto type = dyn_cast_or_null<StringAttr>(config.get(key)); type && type == "float32")
      entries.set(key, StringAttr::get(config.getContext(), "bfloat16"));
  return entries.getDictionary(config.getContext());
}

static void emitExports(OpBuilder &builder, ModuleOp module, train::ProgramOp program) {
  DictionaryAttr exports = program.getExportsAttr();
  if (!exports)
    return;
  const bool isBf16 = holdsParametersInBf16(module);
  for (NamedAttribute file : exports) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::json::OStream json(stream, /*IndentSize=*/2);
    auto content = cast<DictionaryAttr>(file.getValue());
    writeJson(json, isBf16 && file.getName() == "config.json" ? withTypeBf16(content) : content);
    json.flush();
    stream << "\n";
    plan::ExportOp::create(builder, program.getLoc(), file.getName().getValue(), text);
  }
}

LogicalResult emitMetadata(OpBuilder &builder, ModuleOp module, const StorageTable &storages,
                           ArrayRef<FlatSymbolRefAttr> buffers) {
  if (failed(emitStates(builder, module, storages, buffers)))
    return failure();
  for (auto program : module.getOps<train::ProgramOp>()) {
    emitTraining(builder, program);
    emitExports(builder, module, program);
    if (std::optional<StringRef> reason = program.getNoGeneration())
      plan::NoGenerationOp::create(builder, program.getLoc(), *reason);
    if (std::optional<StringRef> reason = program.getNoTraining())
      plan::NoTrainingOp::create(builder, program.getLoc(), *reason);
    module.setName(program.getModel()); // name of the plan
  }
  emitGeneration(builder, module, storages, buffers);
  return success();
}

} // namespace trainc
