// Sharding of a program's states.
#pragma once

#include "dialects/Train/Train.h"
#include "plan/settings/lists.h"
#include "plan/settings/settings.h"

namespace trainc::train {

/// Elements of a chunk of a flat state. Members and shards begin at chunk boundaries, so that sums over
/// chunks depend neither on the number of ranks nor on which members are adjacent.
constexpr int64_t kFlatChunk = 256;

/// Settings of the theme Sharding, with their defaults. Sizes are in elements.
struct ShardingSettings {
  Wrap wrap;
  int64_t shardRanks = 1; ///< number of ranks among which states are sharded
  bool syncEveryMicroStep = false;
  bool reproducibleOverRanks = false; ///< whether sums are trees over a step's micro-batches
  int64_t reduceBucket, gatherBucket;
  int64_t persistBelow;
  bool reshardAfterForward;
  int64_t maxReuseDistance;
  int64_t prefetch; ///< number of units gathered ahead
  int64_t maxLive;
  int64_t gathersInFlight;
};

ShardingSettings shardingOf(ProgramOp program);

/// Returns the settings of the theme by name, with defaults; absent limits are missing.
mlir::DictionaryAttr shardingInForce(ProgramOp program);

/// Returns the settings of sharding that have an effect, with defaults, for the report.
mlir::DictionaryAttr describeSharding(ProgramOp program);

/// Whether trained parameters are members of flat states: on several ranks, and on one rank if the bits must
/// not depend on the number of ranks or updates are stochastically rounded by chunk.
bool hasFlatStates(ProgramOp program);

/// Whether each rank updates only its shard of every flat state.
bool shardsUpdates(ProgramOp program);

/// Returns the most frequent size among the dimensions of the module's parameters, the largest if several are
/// equally frequent; 1 if there are none. This size stands for the model's hidden size in DeepSpeed's `auto`
/// formulas.
int64_t modelWidth(mlir::ModuleOp module);

} // namespace trainc::train
