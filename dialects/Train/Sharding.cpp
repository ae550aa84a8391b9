// Sharding of a program: values of its settings, with defaults that depend on the model.
#include "dialects/Train/Sharding.h"

#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

/// Returns the shapes of the parameters in a state, which holds one or several.
static SmallVector<ArrayRef<int64_t>> shapesIn(StateOp state) {
  if (ArrayAttr members = state.getMembersAttr())
    return llvm::map_to_vector(members.getAsRange<MemberAttr>(), [](MemberAttr member) {
      return cast<RankedTensorType>(member.getType()).getShape();
    });
  return {cast<RankedTensorType>(state.getType()).getShape()};
}

int64_t trainc::train::modelWidth(ModuleOp module) {
  std::map<int64_t, int64_t> parametersWith;
  for (auto state : module.getOps<StateOp>())
    if (state.getRole() == StateRole::parameter)
      for (ArrayRef<int64_t> shape : shapesIn(state))
        for (size_t dim = 0; dim < shape.size(); ++dim)
          if (!llvm::is_contained(shape.take_front(dim), shape[dim]))
            ++parametersWith[shape[dim]];
  int64_t width = 1, maximum = 0;
  for (auto [size, parameters] : parametersWith)
    if (parameters >= maximum) {
      width = size;
      maximum = parameters;
    }
  return width;
}

/// Number of ranks among which states are sharded.
static int64_t shardRanksOf(ProgramOp program) {
  const int64_t ranks = kRanks.of(program);
  return ranks > 1 ? kHybridShard.given(program).value_or(ranks) : 1;
}

static bool isReproducibleOverRanks(ProgramOp program) {
  return kReproducible.of(program) == Reproducible::ranks;
}

static GradientSync syncOf(ProgramOp program) {
  if (kRanks.of(program) == 1)
    return GradientSync::step;
  const bool syncsByDefault = kZeroStage.of(program) > 1 && !isReproducibleOverRanks(program);
  return kSyncGradients.given(program).value_or(syncsByDefault ? GradientSync::micro_step
                                                               : GradientSync::step);
}

namespace {

/// A number whose default depends on the model's width.
struct DefaultOfWidth {
  const Number *setting;
  int64_t ShardingSettings::*field;
  int64_t (*defaultFor)(int64_t width);
};

} // namespace

static constexpr int64_t square(int64_t width) { return width * width; }

static constexpr DefaultOfWidth kDefaultsOfWidth[] = {
    {&kReduceBucketSize, &ShardingSettings::reduceBucket, square},
    {&kAllgatherBucketSize, &ShardingSettings::gatherBucket, square},
    {&kParamPersistenceThreshold, &ShardingSettings::persistBelow, [](int64_t width) { return 10 * width; }}};

ShardingSettings trainc::train::shardingOf(ProgramOp program) {
  const int64_t width = modelWidth(program->getParentOfType<ModuleOp>());
  ShardingSettings settings;
  settings.wrap = *wrapOf(kWrap.of(program)); // the verifier has checked the syntax
  settings.shardRanks = shardRanksOf(program);
  settings.reproducibleOverRanks = isReproducibleOverRanks(program);
  settings.syncEveryMicroStep = syncOf(program) == GradientSync::micro_step;
  for (const DefaultOfWidth &each : kDefaultsOfWidth)
    settings.*each.field = each.setting->given(program).value_or(each.defaultFor(width));
  settings.reshardAfterForward = kReshardAfterForward.of(program);
  settings.maxReuseDistance = kMaxReuseDistance.of(program);
  settings.prefetch = kPrefetch.of(program);
  settings.maxLive = kMaxLiveParameters.given(program).value_or(INT64_MAX);
  settings.gathersInFlight = kLimitAllGathers.of(program);
  return settings;
}

/// Returns the value that is given or a constant default; null for other defaults.
static Attribute constantIn(ProgramOp program, const Setting &setting) {
  Builder builder(program.getContext());
  const Attribute given = valueIn(program, setting);
  if (setting.kind == ValueKind::Number) {
    const std::optional<int64_t> number = wholeNumberIn(setting.defaultValue, setting.min);
    return given || !number ? given : builder.getI64IntegerAttr(*number);
  }
  const StringRef text = given ? cast<StringAttr>(given).getValue() : StringRef(setting.defaultValue);
  if (setting.isTruth())
    return builder.getBoolAttr(text == "true");
  return text.empty() ? Attribute() : builder.getStringAttr(text);
}

DictionaryAttr trainc::train::shardingInForce(ProgramOp program) {
  Builder builder(program.getContext());
  NamedAttrList values;
  for (const Setting *setting : kSettings)
    if (setting->theme == Theme::Sharding)
      if (Attribute value = constantIn(program, *setting))
        values.set(StringRef(setting->name), value);
  const ShardingSettings settings = shardingOf(program);
  for (const DefaultOfWidth &each : kDefaultsOfWidth)
    values.set(StringRef(each.setting->name), builder.getI64IntegerAttr(settings.*each.field));
  values.set(StringRef(kHybridShard.name), builder.getI64IntegerAttr(settings.shardRanks));
  values.set(StringRef(kSyncGradients.name), builder.getStringAttr(kSyncGradients.wordFor(syncOf(program))));
  for (const Setting *setting : kSettings)
    if (setting->theme == Theme::Sharding && !values.get(StringRef(setting->name)))
      if (Attribute value = values.get(StringRef(setting->derived)))
        values.set(StringRef(setting->name), value);
  return values.getDictionary(program.getContext());
}

DictionaryAttr trainc::train::describeSharding(ProgramOp program) {
  Builder builder(program.getContext());
  NamedAttrList values(shardingInForce(program));
  const int64_t stage = kZeroStage.of(program);
  for (const Setting *setting : kSettings)
    if (setting->condition == Condition::ShardedParameters && stage < 3)
      values.erase(StringRef(setting->name));
  if (stage == 3 && !kReshardAfterForward.of(program))
    values.erase(StringRef(kMaxReuseDistance.name));
  values.set(StringRef(kRanks.name), builder.getI64IntegerAttr(kRanks.of(program)));
  values.set(StringRef(kZeroStage.name), builder.getI64IntegerAttr(stage));
  return values.getDictionary(program.getContext());
}

bool trainc::train::shardsUpdates(ProgramOp program) {
  return kRanks.of(program) > 1 && kZeroStage.of(program) >= 1;
}

bool trainc::train::hasFlatStates(ProgramOp program) {
  return kRanks.of(program) > 1 || isReproducibleOverRanks(program) || precisionOf(program).roundsAtRandom();
}
