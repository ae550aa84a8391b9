#include "lib/Pipelines/SearchSpace.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/Sharding.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Settings.h"
#include "plan/settings/settings.h"

using namespace mlir;

namespace trainc {

using Values = std::vector<SearchSpace::Value>;

/// Returns all values of zero_stage.
static std::vector<train::GivenSetting> zeroStages() {
  std::vector<train::GivenSetting> stages;
  for (int64_t stage = train::kZeroStage.min; stage <= train::kZeroStage.max; ++stage)
    stages.push_back(train::kZeroStage.as(stage));
  return stages;
}

/// Returns for each ZeRO stage: all ranks, then ever smaller groups.
static Values shardings(train::ProgramOp program) {
  Values values;
  std::vector<Settings> stages(1);
  const auto ranks = train::kRanks.of(program);
  if (ranks > 1 && !isDecided(program, train::kZeroStage))
    stages = combine(stages, zeroStages());
  const bool mayGroup =
      !isDecided(program, train::kHybridShard) && !train::shardingOf(program).reproducibleOverRanks;
  for (const Settings &stage : stages) {
    const train::GivenSetting inForce =
        stage.empty() ? train::kZeroStage.as(train::kZeroStage.of(program)) : stage.front();
    const bool gathers = ranks > 1 && inForce == train::kZeroStage.as(3);
    values.push_back({stage, /*isPart=*/false, gathers});
    for (int64_t size = ranks / 2; mayGroup && inForce != train::kZeroStage.as(0) && size > 1; --size)
      if (ranks % size == 0) {
        values.push_back({stage, /*isPart=*/true, gathers});
        values.back().settings.push_back(train::kHybridShard.as(size));
      }
  }
  return values;
}

static Values microBatches(train::ProgramOp program) {
  Values values(1);
  if (!maySplitBatch(program))
    return values;
  const auto batch = *train::kMicroBatch.given(program), given = train::kAccumulate.of(program);
  for (int64_t parts = 2; parts <= batch; ++parts)
    if (batch % parts == 0)
      values.push_back({{train::kMicroBatch.as(batch / parts), train::kAccumulate.as(given * parts)}});
  return values;
}

SearchSpace spaceOf(train::ProgramOp program) {
  SearchSpace space;
  space.values[kSharding] = shardings(program);
  space.values[kMicroBatches] = microBatches(program);
  if (!isDecided(program, train::kOffload)) {
    std::vector<train::Offloaded> states;
    for (const OffloadKind &kind : kOffloadStates) {
      states.push_back(kind.kind);
      space.values[kStates].push_back({{train::kOffload.as(states)}});
    }
    for (const train::Offloaded kind : {train::Offloaded::hidden_activations, train::Offloaded::activations})
      space.values[kActivations].push_back({{train::kOffload.as({kind})}});
  }
  space.copiesAnyway = train::offloadOf(program).any();
  space.copiesActivationsAnyway = train::offloadOf(program).activations;
  return space;
}

bool mayRecompute(train::ProgramOp program) { return !isDecided(program, train::kActivationCheckpointing); }

/// Returns the levels of recomputation, the least first: none, of cheap ops, then of ever more blocks.
static std::vector<Settings> levelsOf(train::ProgramOp program, const std::vector<Settings> &blocks) {
  using enum train::Checkpointing;
  const auto &checkpointing = train::kActivationCheckpointing;
  std::vector<Settings> levels = {{checkpointing.as(none)}, {checkpointing.as(selective)}};
  size_t first = levels.size(); // earlier levels recompute no block
  if (isDecided(program, train::kCheckpointKeep))
    first = std::max(first, blocks.size() - 1); // the others do not differ from the last otherwise
  for (const Settings &shares : llvm::drop_begin(blocks, first)) {
    levels.push_back({checkpointing.as(full)});
    llvm::copy_if(shares, std::back_inserter(levels.back()),
                  [&](const train::GivenSetting &each) { return !isDecided(program, settingOf(each)); });
  }
  return levels;
}

void addLevels(train::ProgramOp program, const std::vector<Settings> &blocks, SearchSpace &space) {
  Values &values = space.values[kRecomputation];
  values.clear();
  for (const Settings &level : mayRecompute(program) ? levelsOf(program, blocks) : blocks)
    values.push_back({level});
  space.lastGathersNothing = train::kRanks.of(program) > 1 && !isDecided(program, train::kPrefetch) &&
                             (!isDecided(program, train::kZeroStage) || train::kZeroStage.of(program) == 3);
  if (space.lastGathersNothing) {
    values.push_back(values.back());
    values.back().settings.push_back(train::kPrefetch.as(0));
  }
}

std::vector<Settings> strategiesToCompare(train::ProgramOp program) {
  using enum train::Offloaded;
  using train::Checkpointing, train::kActivationCheckpointing, train::kOffload;
  std::vector<Settings> strategies(1);
  if (train::kRanks.of(program) > 1 && !isDecided(program, train::kZeroStage))
    strategies = combine(strategies, zeroStages());
  if (!isDecided(program, kOffload))
    strategies =
        combine(strategies, {kOffload.as({none}), kOffload.as({optimizer}),
                             kOffload.as({optimizer, gradients, parameters}), kOffload.as({activations})});
  if (mayRecompute(program))
    strategies = combine(strategies, {kActivationCheckpointing.as(Checkpointing::none),
                                      kActivationCheckpointing.as(Checkpointing::selective),
                                      kActivationCheckpointing.as(Checkpointing::full)});
  return strategies;
}

/// Whether the module's program shards parameters and leaves these settings open.
static bool isOpen(ModuleOp module, ArrayRef<const train::Setting *> settings) {
  return llvm::all_of(module.getOps<train::ProgramOp>(), [&](train::ProgramOp program) {
    return train::kRanks.of(program) > 1 && train::kZeroStage.of(program) == 3 &&
           llvm::none_of(settings, [&](const train::Setting *each) { return each->isSet(program); });
  });
}

bool mayKeepGathered(ModuleOp module) {
  return isOpen(module, {&train::kMaxReuseDistance, &train::kReshardAfterForward});
}

bool mayGatherAhead(ModuleOp module) { return isOpen(module, {&train::kPrefetch}); }

} // namespace trainc
