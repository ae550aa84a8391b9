// All options of a compilation. Plain data that tools fill from the command line.
#pragma once

#include "plan/settings/settings.h"

#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// Phases at which a compilation can stop and print its module.
enum class Phase { Model, Step, Spmd, Scheduled, Plan };

/// Minimum sizes at which a loss is computed in slices; see the pass `chunk-loss`.
struct ChunkLossSizes {
  int64_t minBytes, minRows;
};

/// Options of `trainc compile`.
struct CompileOptions {
  /// Settings that override those of the model's train.program before any pass runs
  /// (dialects/Train/ProgramSettings.h).
  std::vector<train::GivenSetting> settings;
  /// If set, the module is printed after this phase and no plan is made.
  std::optional<Phase> compileTo;
  /// Whether to find the largest micro-batch that fits into the memory limit (Queries.h).
  bool findsLargestBatch = false;
  /// The pass's defaults unless given; tests use small sizes.
  std::optional<ChunkLossSizes> chunkLoss;
};

} // namespace trainc
