// The moments of an entry: its instructions in order, with the bodies of loops in place of the loops.
#pragma once

#include "runtime/cost/events.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// An instruction that is no loop, once: one of a loop's body stands for all iterations.
struct Moment {
  const fb::Instruction *instruction;
  uint32_t index;          ///< in the entry, of the instruction itself or of its loop
  uint32_t inner = 0;      ///< in a loop: the place in the body
  uint64_t iterations = 1; ///< of the loop around it
  bool inLoop = false;
  double begin = 0, end = 0; ///< seconds since the entry began; in a loop its share of the loop's time
  /// The first moment that begins when this one is surely done: the next one, of an instruction that runs
  /// beside the compute stream the first of that stream that comes after it, in the end the number of
  /// moments.
  uint32_t doneBefore = 0;

  double seconds() const { return end - begin; }
};

/// The number by which `trainc dump` and messages call the instruction: "12", in a loop "12.3".
std::string nameOf(const Moment &moment);

/// All moments of a verified entry. `schedule` says when each of its instructions runs.
std::vector<Moment> momentsOf(const fb::Entry &entry, const Schedule &schedule);

} // namespace trainc::report
