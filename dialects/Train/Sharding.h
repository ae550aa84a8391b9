// How ranks divide and gather parameters.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// Elements of a chunk of a flat state: members begin with a chunk, and ranks' parts consist of such, so that
/// sums over chunks depend neither on the number of ranks nor on which members lie side by side.
constexpr int64_t kFlatChunk = 256;

/// A program's word `sharding`, with its defaults; see #train.sharding for the meaning. Sizes are elements.
struct ShardingSettings {
  llvm::StringRef wrap = "blocks";
  int64_t shardRanks = 1; ///< ranks that divide states among themselves
  bool syncEveryMicroStep = false;
  bool reproducibleOverRanks = false; ///< sums are trees over a step's micro-batches
  int64_t reduceBucket, gatherBucket;
  int64_t persistBelow;
  bool reshardAfterForward = true;
  int64_t maxReuseDistance = 0;
  int64_t prefetch = 1; ///< units gathered ahead
  int64_t maxLive = INT64_MAX;
  int64_t gathersInFlight = 2;
};

ShardingSettings shardingOf(ProgramOp program);

/// All words of `sharding` and their values, defaults too, but for limits that there are not.
mlir::DictionaryAttr wordsOfSharding(ProgramOp program);

/// What the program's ranks do, with its words of `sharding` and their values, defaults too: those that have
/// an effect.
mlir::DictionaryAttr describeSharding(ProgramOp program);

/// Whether what is trained lies in flat states: on several ranks, and on one that computes the same bits or
/// rounds at random, by the chunks of such states.
bool hasFlatStates(ProgramOp program);

/// Whether each rank updates a part of every flat state alone.
bool dividesUpdates(ProgramOp program);

/// The size that most parameters of the module have among their dimensions, the largest if there are several;
/// 1 where there are none. It is what DeepSpeed's `auto` formulas take for the model's hidden size.
int64_t modelWidth(mlir::ModuleOp module);

} // namespace trainc::train
