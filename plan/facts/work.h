// Work of a plan's instructions, and their seconds on a machine.
#pragma once

#include "plan/cost/collective_seconds.h"
#include "plan/schema/plan_generated.h"

#include <optional>
#include <string>

namespace trainc {

/// Rate of arithmetic on factors of the type.
Factor factorOf(fb::DType dtype);

/// Work of a copy of `bytes` within a space or between two spaces.
Work workOfCopy(fb::Space source, fb::Space destination, double bytes);

/// Work of a library call with checked sizes.
Work workOfCall(const fb::Instruction &call);

/// Work of a launch of a verified plan's kernel.
Work workOfLaunch(const fb::Kernel &kernel);

/// Minimum bytes of a launch or a library call: each argument once per use, without gaps between rows and
/// without parts that it skips. Work::bytes, for predictions, also has gaps and what is read repeatedly.
double compulsoryBytes(const fb::Plan &plan, const fb::Instruction &instruction);

/// Work of a verified plan's instruction; nothing for loops, which consist of instructions, and for
/// collectives, which are link-bound.
std::optional<Work> workOf(const fb::Plan &plan, const fb::Instruction &instruction);

/// Data exchange of a verified collective.
struct Exchange {
  RankGroupShape group;
  uint32_t rounds = 1;  ///< passes through a ring (CollectiveTraits)
  double bytesSent = 0; ///< by each rank
};
Exchange exchangeOf(const fb::Plan &plan, const fb::Collective &collective);

/// Time of a verified instruction without contention; for a loop, of all iterations.
double instructionSeconds(const fb::Plan &plan, const fb::Instruction &instruction, const Machine &machine);

/// Kind and sizes, for reports: "rows_0123456789abcdef", "matrix product 16384 x 2304 x 768 bf16",
/// "all-gather over 8 ranks, 14.2 MB".
std::string describeInstruction(const fb::Plan &plan, const fb::Instruction &instruction);

} // namespace trainc
