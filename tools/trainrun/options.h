// The command line of trainrun.
#pragma once

#include "runtime/base/status.h"
#include "runtime/training/options.h"

namespace trainc {

/// What the user asked for: a run, and where and how its ranks do it.
struct Options : RunOptions {
  std::string trust; ///< file of the keys that sign plans; empty: any plan runs
  std::string device = "auto", comm = "auto";
  std::optional<uint64_t> deviceSeed; ///< of the emulated device
  std::string offloadDir;             ///< of arenas on disk; empty: see rank.cpp
  std::optional<unsigned> threads, processes;
  double commTimeout = 5; ///< seconds

  std::string logLevel = "info", logLevelReplica = "warning";
  bool logOnEachNode = false;
  std::vector<std::string> ofRanks; ///< options that were given, and that matter among several ranks alone
};

/// Reads the command line. An empty result means that help or the version was asked for and printed. Errors
/// (kInvalidInput) name the option; options that contradict each other are named both.
Result<std::optional<Options>> parseOptions(int argc, const char *const *argv);

} // namespace trainc
