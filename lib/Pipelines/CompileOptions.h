// Everything a compilation can be told. Plain data: tools fill it from the command line.
#pragma once

#include "lib/Codegen/Fp32Products.h"
#include "lib/Remat/ActivationCheckpointing.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trainc {

/// The phases at which a compilation can stop and print its module.
enum class Phase { Model, Step, Spmd, Scheduled, Plan };

/// How ranks divide and gather parameters; see #train.sharding.
struct ShardingOptions {
  std::optional<std::string> wrap, sync, reproducible;
  std::optional<bool> reshardAfterForward;
  std::optional<int64_t> hybridShard, reduceBucket, gatherBucket, persistBelow, maxReuseDistance, prefetch,
      maxLive, gathersInFlight;
};

/// Options of `trainc compile`. What is unset is taken from the model's train.program.
struct CompileOptions {
  std::string target = "cpu";
  /// By default fused multiply-adds.
  std::optional<Fp32Products> fp32Products;
  /// By default none.
  std::optional<ActivationCheckpointing> activationCheckpointing;
  /// Samples per micro-batch and rank.
  std::optional<int64_t> microBatch;
  /// Processes that train together.
  std::optional<int64_t> ranks;
  /// What ranks keep a part of: nothing (0), optimizer states (1), gradients too (2), parameters too (3).
  std::optional<int64_t> zeroStage;
  ShardingOptions sharding;
  /// Micro-batches per step and rank.
  std::optional<int64_t> accumulate;
  /// Samples per evaluation batch.
  std::optional<int64_t> evalBatch;
  /// Tokens per sample.
  std::optional<int64_t> seqLen;
  /// Bytes that a process which runs the plan may take; by default any number.
  std::optional<int64_t> memoryLimit;
  /// Where set, the module is printed after this phase and no plan is made.
  std::optional<Phase> compileTo;
  /// Folder for numbered snapshots of the module after every pass; none if empty.
  std::string dumpDir;
};

} // namespace trainc
