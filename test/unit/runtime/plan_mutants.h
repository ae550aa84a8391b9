// Plans with one seeded fault each, that the verifier must refuse.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <functional>
#include <string>
#include <vector>

namespace trainc::test {

/// A fault in one place of a plan.
struct Mutant {
  const char *kind;                       ///< "drop", "swap", "overlap", "lengthen"
  std::string what;                       ///< e.g. "entry micro_step: swap 3 and 7"
  std::function<void(fb::PlanT &)> apply; ///< to a copy of the plan
};

/// All faults of these kinds in `plan`, which must be valid:
///   drop      a start, a wait, or a range that alone writes what is read
///   swap      two instructions of which one depends on the other: one starts or waits for a collective and
///             they share bytes that one writes, or one reads what the other alone has written to scratch;
///             or the destinations of two ranges of which one has no room there
///   overlap   two buffers whose values are needed at the same time
///   lengthen  a copy, a zeroing or a range of a collective
std::vector<Mutant> mutants(const fb::PlanT &plan);

} // namespace trainc::test
