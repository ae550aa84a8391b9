// Moments of an entry: its instructions in order, with loops replaced by their bodies.
#pragma once

#include "plan/cost/events.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// An instruction other than a loop. An instruction of a loop's body stands for all iterations.
struct Moment {
  const fb::Instruction *instruction;
  uint32_t index;          ///< index in the entry: of the instruction, or of its loop
  uint32_t inner = 0;      ///< in a loop: index in the body
  uint64_t iterations = 1; ///< of the enclosing loop
  bool inLoop = false;
  double begin = 0, end = 0; ///< seconds since the entry began; in a loop its share of the loop's time
  /// The first moment that begins after this one is certainly done: the next one or, for an asynchronous
  /// instruction, the first on the compute stream that depends on it; the number of moments if there is none.
  uint32_t doneBefore = 0;

  double seconds() const { return end - begin; }
};

/// Number of the instruction in `trainc dump` and messages: "12", or "12.3" in a loop.
std::string nameOf(const Moment &moment);

/// All moments of a verified entry, timed by `schedule`.
std::vector<Moment> momentsOf(const fb::Entry &entry, const Schedule &schedule);

} // namespace trainc::report
