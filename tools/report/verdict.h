// One-line summary: whether a plan fits, its step time, and its communication.
#pragma once

#include "plan/facts/memory_by_kind.h"
#include "plan/facts/memory_need.h"
#include "tools/report/analysis.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trainc::report {

struct Verdict {
  MemoryNeed memory;
  BytesByKind host, disk;        ///< in spaces without a limit; their sums are memory.host and memory.disk
  std::optional<uint64_t> limit; ///< memory limit of the compilation, in bytes
  std::optional<double> stepSeconds; ///< predicted; nothing if some instruction has no prediction
  double communicationSeconds = 0, exposedSeconds = 0; ///< per step
  uint64_t flops = 0;                                  ///< per step, of products and attention

  /// Bytes left under the limit; negative if the limit is exceeded.
  std::optional<int64_t> headroom() const;
};

Verdict verdictOf(const Analysis &analysis);

/// "4.26 GiB on each rank (tensors 4.19 GiB, besides at most 76.6 MiB)".
std::string needText(const MemoryNeed &need, uint32_t ranks);

/// A sentence for people: "Fits: needs 4.26 GiB (...) of 6.00 GiB allowed, ...".
std::string sentence(const Verdict &verdict, uint32_t ranks);

/// "58.2 s", "3.10 ms", "20.0 us".
std::string secondsText(double seconds);

} // namespace trainc::report
