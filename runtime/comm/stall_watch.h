// Telling ranks that work from ranks that hang.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Why a rank counts as dead that neither works nor waits.
inline std::string stalledReason(double timeoutSeconds) {
  return fmt::format("it did not arrive within {} s: it has died, hangs or is stopped", timeoutSeconds);
}

/// Why no rank can go on with one that has nothing left to do.
inline constexpr const char *kLeftReason = "it has ended its run, without an error, while others go on";

/// Why no rank can go on where all wait.
inline constexpr const char *kCircleReason = "it waits for ranks that wait for it: their plans differ";

/// How a reason begins that blames no rank.
inline constexpr std::string_view kNobodysFault = "no rank is known to have failed: ";

/// Why no rank can go on where all wait for what runs beside their hosts.
inline std::string elsewhereReason(double seconds) {
  return fmt::format("{}all have waited for {} s, so a device, or a link between two, hangs", kNobodysFault,
                     seconds);
}

/// What ranks hear of a failure: "rank 2 failed: REASON", or the reason alone where it blames no rank.
inline std::string failureText(uint32_t rank, std::string_view reason) {
  return reason.starts_with(kNobodysFault) ? std::string(reason)
                                           : fmt::format("rank {} failed: {}", rank, reason);
}

/// Timeouts after which all ranks that wait count as waiting for each other: more than the one after which a
/// rank that does not wait is found, whom all the others may be waiting for.
inline constexpr double kCircleTimeouts = 1.5;

/// How long each rank has made no progress, in time in which the one who waits was awake: a job that is
/// stopped and continued as a whole has not hung.
class StallWatch {
public:
  StallWatch(uint32_t ranks, double timeoutSeconds) : seen_(ranks), timeout_(timeoutSeconds) {}

  /// A wait begins: all ranks have the whole timeout.
  void begin() { std::fill(seen_.begin(), seen_.end(), Seen{}); }

  /// Notes that `seconds` went by and that the rank's counter is now `progress`; true when it has been so for
  /// the timeout. Call it several times a second.
  bool stalled(uint32_t rank, uint32_t progress, double seconds) {
    Seen &seen = seen_[rank];
    seen.idle = progress == seen.progress ? seen.idle + std::min(seconds, kLongestSlice) : 0;
    seen.progress = progress;
    return seen.idle >= timeout_;
  }

private:
  static constexpr double kLongestSlice = 0.1;

  struct Seen {
    uint32_t progress = 0;
    double idle = 0;
  };
  std::vector<Seen> seen_;
  double timeout_;
};

} // namespace trainc
