// What keeping states and activations outside the device's memory would save at which price.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// A kind of bytes that `trainc compile --offload` could keep outside.
struct Move {
  std::string offload; ///< the option's word: "optimizer"
  uint64_t bytes = 0;  ///< that lie in the device's memory at the peak's moment: the most that it saves
  double seconds = 0;  ///< of a step's copies, if computation hides none of them
};

/// The largest first, at the rates of the machine that the plan is for. Without what is outside already.
/// Empty if the compiler's report does not say, in our words, where it would go, or the machine has no such
/// rates.
std::vector<Move> movesOf(const Analysis &analysis);

/// Where they would go: "disk" or "host"; empty if there are none.
std::string placeOfMoves(const Analysis &analysis);

} // namespace trainc::report
