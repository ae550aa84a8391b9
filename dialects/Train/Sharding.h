// How ranks divide and gather parameters.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// Elements of a chunk of a flat state: members begin with a chunk, and ranks' parts consist of such, so that
/// sums over chunks depend neither on the number of ranks nor on which members lie side by side.
constexpr int64_t kFlatChunk = 256;

/// A program's word `sharding`, with its defaults; see #train.sharding for the meaning.
struct ShardingSettings {
  llvm::StringRef wrap = "blocks";
  bool reshardAfterForward = true;
  int64_t prefetch = 1;     ///< units gathered ahead
  int64_t persistBelow = 0; ///< elements
  int64_t shardRanks = 1;   ///< ranks that divide states among themselves
  bool syncEveryMicroStep = false;
  bool reproducibleOverRanks = false; ///< sums are trees over a step's micro-batches
};

ShardingSettings shardingOf(ProgramOp program);

/// Whether what is trained lies in flat states: on several ranks, and on one that computes the same bits.
bool hasFlatStates(ProgramOp program);

} // namespace trainc::train
