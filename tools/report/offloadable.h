// Memory that offloading states and activations would save, and its cost.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainc::report {

/// A kind of bytes that `trainc compile --offload` could offload.
struct OffloadableKind {
  std::string offload; ///< value of the option: "optimizer"
  /// Bytes on the device, an upper bound of the saving; for activations those held over the peak.
  uint64_t bytes = 0;
  /// Copy time of these bytes per step, if no computation overlaps it. Nothing for parameters of several
  /// ranks or with working copies: the number of fetches of each byte is then unknown.
  std::optional<double> seconds = {};
};

struct OffloadableKinds {
  std::string to; ///< "disk" or "host"
  std::vector<OffloadableKind> kinds;
};

/// Kinds that are not offloaded yet, largest first, with the rates of a rank on the plan's machine. Empty if
/// the compile report, which is not verified, does not name the target space in a known form, if the machine
/// has no such rates, or if that space counts as device memory.
OffloadableKinds offloadableKinds(const Analysis &analysis);

} // namespace trainc::report
