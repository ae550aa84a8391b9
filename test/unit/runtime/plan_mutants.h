// Plans with one seeded fault each, that the verifier must refuse.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <functional>
#include <string>
#include <vector>

namespace trainc::test {

/// A fault in one place of a plan.
struct Mutant {
  const char *kind;                       ///< "drop", "early", "stream", "swap", "overlap", "lengthen"
  std::string what;                       ///< e.g. "entry micro_step: swap 3 and 7"
  std::function<void(fb::PlanT &)> apply; ///< to a copy of the plan
};

/// All faults of these kinds in `plan`, which must be valid:
///   drop      what an instruction comes after on another stream, or a range that alone writes what is read
///   early     an instruction comes after the one before the right one
///   stream    an instruction runs on another stream
///   swap      two instructions of which one reads what the other alone has written to scratch; or the
///             destinations of two ranges of which one has no room there
///   overlap   two buffers whose values are needed at the same time
///   lengthen  a copy, a zeroing or a range of a collective
std::vector<Mutant> mutants(const fb::PlanT &plan);

} // namespace trainc::test
