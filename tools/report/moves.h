// What keeping states and activations outside the device's memory would save at which price.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainc::report {

/// A kind of bytes that `trainc compile --offload` could keep outside.
struct Move {
  std::string offload; ///< the option's word: "optimizer"
  uint64_t bytes = 0;  ///< that the device's memory holds: the most that it saves. Of activations those that
                       ///< are kept over the peak
  /// Of a step's copies of these bytes, if computation hides none of them. None for parameters of several
  /// ranks or with working copies: how often each byte of these is fetched is not known.
  std::optional<double> seconds = {};
};

struct Moves {
  std::string to; ///< "disk" or "host"
  std::vector<Move> kinds;
};

/// What is not outside already, the largest first, at the rates that a rank has of the machine that the plan
/// is for. No kinds if the compiler's report, which nobody verifies, does not say in our words where they
/// would go, if the machine has no such rates, or if that place counts as the device's memory.
Moves movesOf(const Analysis &analysis);

} // namespace trainc::report
