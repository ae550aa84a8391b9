// The command line of trainrun.
#pragma once

#include "base/status.h"
#include "runtime/training/options.h"

#include <functional>

namespace CLI {
class App;
}

namespace trainc {

/// Options of the user: the run, and where and how its ranks run.
struct Options : RunOptions {
  std::string trust; ///< file of the keys that may sign plans; empty: any plan runs
  std::string device = "auto", comm = "auto";
  std::optional<uint64_t> deviceSeed; ///< of a device that draws orders
  std::string offloadDir;             ///< folder of disk arenas; empty: see offload_folder.h
  std::optional<unsigned> threads, processes;
  double commTimeout = 5; ///< seconds

  std::string logLevel = "info", logLevelReplica = "warning";
  bool logOnEachNode = false;
  bool quiet = false;               ///< `logLevel` is "warning" by --quiet
  std::vector<std::string> ofRanks; ///< options on the command line that matter with several ranks only

  /// Whether the device computes nothing.
  bool isDryRun() const;
};

/// Calls `visit` with the command line that defines all options, for the reference pages.
void visitTrainrunOptions(const std::function<void(const CLI::App &)> &visit);

/// Parses the command line. Returns nothing if help or version was requested, and printed. Errors
/// (kInvalidInput) name the option; for contradictory options, both.
Result<std::optional<Options>> parseOptions(int argc, const char *const *argv);

} // namespace trainc
