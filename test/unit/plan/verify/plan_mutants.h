// Plans with one seeded fault each.
#pragma once

#include "plan/schema/plan_generated.h"

#include <functional>
#include <string>
#include <vector>

namespace trainc::test {

/// A fault in one place of a plan.
struct Mutant {
  const char *kind;                       ///< "drop", "early", ...: see mutants()
  std::string what;                       ///< e.g. "entry micro_step: swap 3 and 7"
  std::function<void(fb::PlanT &)> apply; ///< to a copy of the plan
};

/// All faults of these kinds in `plan`, which must be valid. The verifier must reject each:
///   drop      a dependency on another stream, or a range that is the only writer of bytes that are read
///   early     a dependency on the instruction before the right one
///   stream    an instruction on another stream
///   swap      two instructions, one of which reads scratch bytes written only by the other; or the
///             destinations of two ranges, one of which has no space there
///   overlap   two buffers whose values are live at the same time
///   lengthen  a copy, a zeroing (beyond padding) or a range of a collective
///   widen     whether the sums of a range are wider than the summed type
///   sum       another kernel for a sum, none, or too little workspace
std::vector<Mutant> mutants(const fb::PlanT &plan);

/// All faults of these kinds in operands' addresses. Some are harmless: every read still finds its write, and
/// nothing is lost (isSound() of flow_interpreter.h). The others must be rejected:
///   argument  an argument of a launch overlaps another one, or is shifted; or a kernel's permission to alias
///             is revoked
///   body      an instruction of a loop's body is removed, two are swapped, or two of its buffers overlap
///   stride    another loop stride of an operand
///   place     another rank stride of an operand; or bytes that one rank reads are overwritten
///   library   those of libraryMutants()
///   copy, state, buffer, says, reorder  those of copyMutants()
std::vector<Mutant> addressMutants(const fb::PlanT &plan);

/// Faults in the sizes of library calls: one larger or smaller, a factor the other way round, an operand
/// left out, another type.
std::vector<Mutant> libraryMutants(const fb::PlanT &plan);

/// Faults in copies between spaces:
///   copy      its size, or the place of one side; one of no bytes is left out
///   state     it moves another state of the same size
///   buffer    it leads to or from another buffer of the same size on the device
///   says      a buffer says otherwise where its values come from or go, or nothing of it
///   reorder   it changes places with an instruction that touches the same bytes
std::vector<Mutant> copyMutants(const fb::PlanT &plan);

} // namespace trainc::test
