// The one line that says whether a plan fits, how long its step takes, and what communication costs.
#pragma once

#include "runtime/plan/memory_need.h"
#include "tools/report/analysis.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace trainc::report {

/// What arenas of a space hold that no memory limit is about, in bytes by kind. All of what is not a state's
/// counts as activations in a scratch arena, as workspace in another one.
using Outside = std::array<uint64_t, kKinds>;

struct Verdict {
  MemoryNeed memory;
  Outside host{}, disk{};            ///< which sum to memory.host and memory.disk
  std::optional<uint64_t> limit;     ///< that the plan was compiled with, in bytes
  std::optional<double> stepSeconds; ///< predicted; none where some instruction has no prediction
  double communicationSeconds = 0, exposedSeconds = 0; ///< of a step
  uint64_t flops = 0;                                  ///< of a step: of products and attention

  /// What the limit leaves; negative where it is exceeded.
  std::optional<int64_t> headroom() const;
};

Verdict verdictOf(const Analysis &analysis);

/// "4.26 GiB on each rank (its arenas 4.19 GiB, besides them at most 76.6 MiB)".
std::string needText(const MemoryNeed &need, uint32_t ranks);

/// "Fits: needs 4.26 GiB (...) of 6.00 GiB allowed, ..." as one sentence for people.
std::string sentence(const Verdict &verdict, uint32_t ranks);

/// "58.2 s", "3.10 ms", "20.0 us".
std::string secondsText(double seconds);

} // namespace trainc::report
