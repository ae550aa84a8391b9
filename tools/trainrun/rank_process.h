// One rank's run, from its log to its exit code.
#pragma once

#include "runtime/log/log.h"
#include "runtime/plan/file.h"
#include "tools/trainrun/options.h"
#include "tools/trainrun/rank.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

namespace trainc {

/// Which error the ranks of a run said first, in memory that they share: all find the same wrong with a
/// command line or a file, and one of them tells.
class FirstError {
public:
  /// Make it before the ranks are forked.
  FirstError();

  /// Whether nobody has said this yet; where there is no memory to share, always.
  bool claim(std::string_view message) const;

private:
  struct Unmap {
    void operator()(std::atomic<uint64_t> *word) const;
  };
  std::unique_ptr<std::atomic<uint64_t>, Unmap> word_;
};

/// At which level a rank logs.
LogLevel logLevelOf(const Rank &rank, const Options &options);

/// Runs a session and returns the exit code. An error ends the other ranks' waits.
int runRankProcess(const PlanFile &file, const Options &options, const Rank &rank,
                   const FirstError &firstError);

} // namespace trainc
