// The one line that says whether a plan fits, how long its step takes, and what communication costs.
#pragma once

#include "tools/report/analysis.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace trainc::report {

/// What arenas of a space hold that no memory limit is about, in bytes. All of what is not a state's counts
/// as activations in a scratch arena, as workspace in another one.
struct Outside {
  uint64_t bytes = 0;
  std::array<uint64_t, kKinds> kinds{}; ///< which sum to it
};

struct Verdict {
  uint64_t peak = 0; ///< bytes of the arenas that a memory limit is about: what trainrun allocates there
  Outside host;      ///< of a GPU's plan: the host's arenas
  Outside disk;
  uint64_t unplanned = 0;            ///< what a process takes besides, at most; 0 where the plan does not say
  std::optional<uint64_t> limit;     ///< that the plan was compiled with, in bytes
  std::optional<double> stepSeconds; ///< predicted; none where some instruction has no prediction
  double communicationSeconds = 0, exposedSeconds = 0; ///< of a step
  uint64_t flops = 0;                                  ///< of a step: of products and attention

  /// What the limit leaves; negative where it is exceeded.
  std::optional<int64_t> headroom() const;
};

Verdict verdictOf(const Analysis &analysis);

/// "Fits: 4.26 GiB of 6.00 GiB, ..." as one sentence for people.
std::string sentence(const Verdict &verdict, uint32_t ranks);

/// "58.2 s", "3.10 ms", "20.0 us".
std::string secondsText(double seconds);

} // namespace trainc::report
