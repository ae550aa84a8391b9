// Everything a compilation can be told. Plain data: tools fill it from the command line.
#pragma once

#include "lib/Codegen/Fp32Products.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trainc {

/// The phases at which a compilation can stop and print its module.
enum class Phase { Model, Step, Scheduled, Plan };

/// Options of `trainc compile`. What is unset is taken from the model's train.program.
struct CompileOptions {
  std::string target = "cpu";
  Fp32Products fp32Products = Fp32Products::Fma;
  /// Samples per micro-batch and rank.
  std::optional<int64_t> microBatch;
  /// Micro-batches per step.
  std::optional<int64_t> accumulate;
  /// Samples per evaluation batch.
  std::optional<int64_t> evalBatch;
  /// Tokens per sample.
  std::optional<int64_t> seqLen;
  /// Bytes that arenas may take; 0 for no limit.
  int64_t memoryLimit = 0;
  /// Where set, the module is printed after this phase and no plan is made.
  std::optional<Phase> compileTo;
  /// Folder for numbered snapshots of the module after every pass; none if empty.
  std::string dumpDir;
};

} // namespace trainc
