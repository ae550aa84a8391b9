// Plans with one seeded fault each.
#pragma once

#include "runtime/schema/plan_generated.h"

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

/// All faults of these kinds in `plan`, which must be valid and must be refused with each:
///   drop      what an instruction comes after on another stream, or a range that alone writes what is read
///   early     an instruction comes after the one before the right one
///   stream    an instruction runs on another stream
///   swap      two instructions of which one reads what the other alone has written to scratch; or the
///             destinations of two ranges of which one has no room there
///   overlap   two buffers whose values are needed at the same time
///   lengthen  a copy, a zeroing (farther than into padding) or a range of a collective
///   widen     the sums of a range are wider, or no wider, than what is summed
///   sum       a sum by a kernel has another one, or none, or too little workspace
std::vector<Mutant> mutants(const fb::PlanT &plan);

/// All faults of these kinds in where operands lie. Some are harmless: what is read was written for it all
/// the same, and nothing is lost (isSound() of flow_interpreter.h). The others must be refused:
///   argument  an argument of a launch lies over another one, or next to its begin; or a kernel says no
///             longer that it may
///   body      an instruction of a loop's body is left out, two are swapped, or two of its buffers lie over
///             each other
///   stride    an operand of a loop advances by another stride
///   place     an operand moves otherwise with the place in the shard group; or what one rank reads there is
///             overwritten
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
