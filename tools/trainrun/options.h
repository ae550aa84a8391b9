// The command line of trainrun.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// What the user asked for. An optional value that was not given is empty, a text or list likewise.
struct Options {
  std::string plan;

  std::vector<std::string> data, evalData;
  std::string dataDType, tokenizer;

  std::optional<uint64_t> steps, seed;
  std::string init, onNonFinite = "stop";
  bool noShuffle = false;
  std::optional<uint64_t> evalEvery;

  std::string checkpointDir, resume;
  std::optional<uint64_t> checkpointEvery, keepLast;

  std::optional<std::string> generate;
  std::optional<uint64_t> maxTokens, topK;
  std::optional<double> temperature;

  std::string device = "auto", comm = "auto";
  std::optional<unsigned> threads, processes;
  double commTimeout = 5; ///< seconds

  std::string metrics, logLevel = "info", logLevelReplica = "warning";
  bool logOnEachNode = false;
  std::optional<double> peakFlops;
  bool profile = false;

  /// Whether to run training steps: there is data, and it is not only there for --generate.
  bool trains() const { return !data.empty() && (steps || !generate); }
};

/// Reads the command line. An empty result means that help or the version was asked for and printed. Errors
/// (kInvalidInput) name the option; options that contradict each other are named both.
Result<std::optional<Options>> parseOptions(int argc, const char *const *argv);

} // namespace trainc
