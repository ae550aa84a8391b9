// Detection of hung ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Failure reason of a rank that neither makes progress nor waits.
inline std::string stalledReason(double timeoutSeconds) {
  return fmt::format("it did not arrive within {} s: it has died, hangs or is stopped", timeoutSeconds);
}

/// Failure reason of a rank that has ended its run while others wait for it.
inline constexpr const char *kLeftReason = "it has ended its run, without an error, while others continue";

/// Failure reason if all ranks wait for each other.
inline constexpr const char *kCircleReason = "it waits for ranks that wait for it: their plans differ";

/// Prefix of a reason that blames no rank.
inline constexpr std::string_view kNobodysFault = "no rank is known to have failed: ";

/// Failure reason if all ranks wait for their devices.
inline std::string elsewhereReason(double seconds) {
  return fmt::format("{}all have waited for {} s, so a device, or a link between two, hangs", kNobodysFault,
                     seconds);
}

/// Text of a failure for all ranks: "rank 2 failed: REASON", or the reason alone if it blames no rank.
inline std::string failureText(uint32_t rank, std::string_view reason) {
  return reason.starts_with(kNobodysFault) ? std::string(reason)
                                           : fmt::format("rank {} failed: {}", rank, reason);
}

/// Timeouts after which waiting ranks count as a deadlock. Above 1, so that a rank that hangs, for which all
/// others may be waiting, is found first.
inline constexpr double kCircleTimeouts = 1.5;

/// Tracks how long each rank has made no progress. Counts only time in which the waiting rank itself was
/// running, so that a job that was stopped and continued as a whole does not count as hung.
class StallWatch {
public:
  StallWatch(uint32_t ranks, double timeoutSeconds) : seen_(ranks), timeout_(timeoutSeconds) {}

  /// Starts a wait: every rank gets the whole timeout.
  void begin() { std::fill(seen_.begin(), seen_.end(), Seen{}); }

  /// Records that `seconds` have passed and the rank's counter is now `progress`; returns true once the
  /// counter has not changed for the timeout. Call it several times a second.
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
