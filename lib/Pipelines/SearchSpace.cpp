#include "lib/Pipelines/SearchSpace.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Settings.h"

using namespace mlir;

namespace trainc {

using Values = std::vector<SearchSpace::Value>;

/// Returns for each ZeRO stage: all ranks, then ever smaller groups.
static Values shardings(train::ProgramOp program) {
  Values values;
  std::vector<Settings> stages(1);
  const auto ranks = train::kRanks.of(program);
  if (ranks > 1 && !isDecided(program, "zero_stage"))
    stages = combine(stages, "zero_stage", {"0", "1", "2", "3"});
  const bool mayGroup =
      !isDecided(program, "hybrid_shard") && !train::shardingOf(program).reproducibleOverRanks;
  for (const Settings &stage : stages) {
    const std::string number =
        stage.empty() ? std::to_string(train::kZeroStage.of(program)) : stage.front().value;
    const bool gathers = ranks > 1 && number == "3";
    values.push_back({stage, /*isPart=*/false, gathers});
    for (int64_t size = ranks / 2; mayGroup && number != "0" && size > 1; --size)
      if (ranks % size == 0) {
        values.push_back({stage, /*isPart=*/true, gathers});
        values.back().settings.push_back({"hybrid_shard", std::to_string(size)});
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
      values.push_back(
          {{{"micro_batch", std::to_string(batch / parts)}, {"accumulate", std::to_string(given * parts)}}});
  return values;
}

SearchSpace spaceOf(train::ProgramOp program) {
  SearchSpace space;
  space.values[kSharding] = shardings(program);
  space.values[kMicroBatches] = microBatches(program);
  if (!isDecided(program, "offload")) {
    std::string words;
    for (const OffloadKind &kind : kOffloadKinds) {
      words += (words.empty() ? "" : ",") + kind.word.str();
      space.values[kStates].push_back({{{"offload", words}}});
    }
    for (StringRef word : llvm::drop_begin(kActivationWords))
      space.values[kActivations].push_back({{{"offload", word.str()}}});
  }
  space.copiesAnyway = train::offloadOf(program).any();
  space.copiesActivationsAnyway = train::offloadOf(program).activations;
  return space;
}

bool mayRecompute(train::ProgramOp program) { return !isDecided(program, "activation_checkpointing"); }

/// Returns the levels of recomputation, the least first: none, of cheap ops, then of ever more blocks.
static std::vector<Settings> levelsOf(train::ProgramOp program, const std::vector<Settings> &blocks) {
  std::vector<Settings> levels =
      combine(std::vector<Settings>(1), "activation_checkpointing", {"none", "selective"});
  size_t first = levels.size(); // earlier levels recompute no block
  if (isDecided(program, "checkpoint_keep"))
    first = std::max(first, blocks.size() - 1); // the others do not differ from the last otherwise
  for (const Settings &shares : llvm::drop_begin(blocks, first)) {
    levels.push_back({{"activation_checkpointing", "full"}});
    llvm::copy_if(shares, std::back_inserter(levels.back()),
                  [&](const train::GivenSetting &each) { return !isDecided(program, each.word); });
  }
  return levels;
}

void addLevels(train::ProgramOp program, const std::vector<Settings> &blocks, SearchSpace &space) {
  Values &values = space.values[kRecomputation];
  values.clear();
  for (const Settings &level : mayRecompute(program) ? levelsOf(program, blocks) : blocks)
    values.push_back({level});
  space.lastGathersNothing = train::kRanks.of(program) > 1 && !isDecided(program, "prefetch") &&
                             (!isDecided(program, "zero_stage") || train::kZeroStage.of(program) == 3);
  if (space.lastGathersNothing) {
    values.push_back(values.back());
    values.back().settings.push_back({"prefetch", "0"});
  }
}

std::vector<Settings> strategiesToCompare(train::ProgramOp program) {
  std::vector<Settings> strategies(1);
  if (train::kRanks.of(program) > 1 && !isDecided(program, "zero_stage"))
    strategies = combine(strategies, "zero_stage", {"0", "1", "2", "3"});
  if (!isDecided(program, "offload"))
    strategies = combine(strategies, "offload",
                         {"none", "optimizer", "optimizer,gradients,parameters", "activations"});
  if (mayRecompute(program))
    strategies = combine(strategies, "activation_checkpointing", {"none", "selective", "full"});
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
