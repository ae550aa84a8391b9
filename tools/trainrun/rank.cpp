#include "tools/trainrun/rank.h"

#include "runtime/device/cpu/cpu_device.h"

#include <algorithm>

namespace trainc {

LogLevel Rank::logLevel(const Options &options) const {
  const bool speaks = index == 0 || (options.logOnEachNode && localIndex == 0);
  const Result<LogLevel> level = parseLogLevel(speaks ? options.logLevel : options.logLevelReplica);
  return level.ok() ? *level : LogLevel::kInfo; // the command line was checked
}

unsigned Rank::defaultThreads() const { return std::max(1U, availableCpus() / localRanks); }

} // namespace trainc
