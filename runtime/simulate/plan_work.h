// What a plan's instructions ask of a machine, from the file alone. The compiler says the same of its own
// (dialects/Plan), which a test compares.
#pragma once

#include "runtime/cost/collective_seconds.h"
#include "runtime/schema/plan_generated.h"

#include <optional>
#include <string>

namespace trainc {

/// Of a launch of a verified plan's kernel.
Work workOfLaunch(const fb::Kernel &kernel);

/// Of a verified plan's instruction; nothing of loops, whose instructions do, and of collectives, which the
/// link bounds.
std::optional<Work> workOf(const fb::Plan &plan, const fb::Instruction &instruction);

/// What a verified collective exchanges.
struct Exchange {
  RankGroupShape group;
  bool isAllReduce = false;
  double bytesSent = 0; ///< by each rank
};
Exchange exchangeOf(const fb::Plan &plan, const fb::Collective &collective);

/// What a verified instruction takes where nothing else runs; of a loop all iterations.
double instructionSeconds(const fb::Plan &plan, const fb::Instruction &instruction, const Machine &machine);

/// Kind and sizes, for reports: "rows_0123456789abcdef", "matrix product 16384 x 2304 x 768 bf16",
/// "all-gather over 8 ranks, 14.2 MB".
std::string describeInstruction(const fb::Plan &plan, const fb::Instruction &instruction);

} // namespace trainc
