// How ranks divide and gather parameters.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// A program's word `sharding`, with its defaults; see #train.sharding for the meaning.
struct ShardingSettings {
  llvm::StringRef wrap = "blocks";
  bool reshardAfterForward = true;
  int64_t prefetch = 1;     ///< units gathered ahead
  int64_t persistBelow = 0; ///< elements
  bool syncEveryMicroStep = false;
};

ShardingSettings shardingOf(ProgramOp program);

} // namespace trainc::train
