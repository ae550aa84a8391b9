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
  int64_t width = 1, most = 0;
  for (auto [size, parameters] : parametersWith)
    if (parameters >= most) {
      width = size;
      most = parameters;
    }
  return width;
}

ShardingSettings trainc::train::shardingOf(ProgramOp program) {
  const int64_t ranks = kRanks.of(program), width = modelWidth(program->getParentOfType<ModuleOp>());
  ShardingSettings settings;
  settings.wrap = kWrap.of(program);
  settings.shardRanks = ranks > 1 ? kHybridShard.given(program).value_or(ranks) : 1;
  settings.reproducibleOverRanks = kReproducible.of(program) == Reproducible::ranks;
  const std::optional<GradientSync> sync = kSyncGradients.given(program);
  const bool syncs = sync ? *sync == GradientSync::micro_step
                          : kZeroStage.of(program) > 1 && !settings.reproducibleOverRanks;
  settings.syncEveryMicroStep = ranks > 1 && syncs;
  settings.reduceBucket = kReduceBucketSize.given(program).value_or(width * width);
  settings.gatherBucket = kAllgatherBucketSize.given(program).value_or(width * width);
  settings.persistBelow = kParamPersistenceThreshold.given(program).value_or(10 * width);
  settings.reshardAfterForward = kReshardAfterForward.of(program);
  settings.maxReuseDistance = kMaxReuseDistance.of(program);
  settings.prefetch = kPrefetch.of(program);
  settings.maxLive = kMaxLiveParameters.given(program).value_or(INT64_MAX);
  settings.gathersInFlight = kLimitAllGathers.of(program);
  return settings;
}

DictionaryAttr trainc::train::shardingInForce(ProgramOp program) {
  const ShardingSettings settings = shardingOf(program);
  Builder builder(program.getContext());
  NamedAttrList values;
  auto set = [&](const Setting &setting, int64_t value) {
    values.set(StringRef(setting.name), builder.getI64IntegerAttr(value));
  };
  auto setText = [&](const Setting &setting, StringRef value) {
    values.set(StringRef(setting.name), builder.getStringAttr(value));
  };
  set(kHybridShard, settings.shardRanks);
  set(kReduceBucketSize, settings.reduceBucket);
  set(kAllgatherBucketSize, settings.gatherBucket);
  setText(kWrap, settings.wrap);
  setText(kSyncGradients, kSyncGradients.wordFor(settings.syncEveryMicroStep ? GradientSync::micro_step
                                                                             : GradientSync::step));
  setText(kReproducible,
          kReproducible.wordFor(settings.reproducibleOverRanks ? Reproducible::ranks : Reproducible::plan));
  set(kParamPersistenceThreshold, settings.persistBelow);
  set(kPrefetch, settings.prefetch);
  set(kLimitAllGathers, settings.gathersInFlight);
  if (settings.maxLive < INT64_MAX)
    set(kMaxLiveParameters, settings.maxLive);
  values.set(StringRef(kReshardAfterForward.name), builder.getBoolAttr(settings.reshardAfterForward));
  set(kMaxReuseDistance, settings.maxReuseDistance);
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
  return kRanks.of(program) > 1 || shardingOf(program).reproducibleOverRanks ||
         precisionOf(program).roundsAtRandom();
}
