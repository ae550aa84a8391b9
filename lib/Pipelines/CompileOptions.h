// Everything a compilation can be told. Plain data: tools fill it from the command line.
#pragma once

#include "dialects/Train/ProgramWords.h"

#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// The phases at which a compilation can stop and print its module.
enum class Phase { Model, Step, Spmd, Scheduled, Plan };

/// From which sizes on the scores of a loss are computed in slices; see the pass `chunk-loss`.
struct ChunkLossSizes {
  int64_t minBytes, minRows;
};

/// Options of `trainc compile`.
struct CompileOptions {
  /// What is written over the model's train.program before any pass runs (dialects/Train/ProgramSettings.h).
  std::vector<train::GivenSetting> settings;
  /// Where set, the module is printed after this phase and no plan is made.
  std::optional<Phase> compileTo;
  /// Whether to look for the largest micro-batch that fits into the memory limit (LargestBatch.h).
  bool findsLargestBatch = false;
  /// The pass's own unless given: tests cut small losses.
  std::optional<ChunkLossSizes> chunkLoss;
};

} // namespace trainc
