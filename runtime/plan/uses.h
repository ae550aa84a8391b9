// Which bytes an instruction reads and writes. Internal to runtime/plan.
#pragma once

#include "runtime/plan/collective.h"
#include "runtime/plan/operand.h"
#include "runtime/plan/view.h"

#include <string>

namespace trainc::verify {

/// One operand of a checked instruction.
struct Use {
  Range range;
  bool reads, writes;
  uint32_t argument; ///< of a launch; otherwise 0 is the destination, 1 the source
};

/// Calls `visit(use)` for every operand of an instruction other than a loop, sources before destinations; of
/// a Wait there are none.
template <typename Visitor>
void forEachUse(const fb::Plan &plan, const fb::Instruction &instruction, uint64_t iterations,
                Visitor visit) {
  if (const fb::Launch *launch = instruction.operation_as_Launch()) {
    const fb::Kernel &kernel = *plan.kernels()->Get(launch->kernel());
    for (uint32_t i = 0; i < launch->args()->size(); ++i) {
      const fb::Param &param = *kernel.params()->Get(i);
      visit(Use{{launch->args()->Get(i), param.bytes(), iterations},
                param.access() != fb::Access::Write,
                param.access() != fb::Access::Read,
                i});
    }
  } else if (const fb::Copy *copy = instruction.operation_as_Copy()) {
    visit(Use{{copy->source(), copy->bytes(), iterations}, true, false, 1});
    visit(Use{{copy->destination(), copy->bytes(), iterations}, false, true, 0});
  } else if (const fb::Zero *zero = instruction.operation_as_Zero()) {
    visit(Use{{zero->destination(), zero->bytes(), iterations}, false, true, 0});
  } else if (const fb::Start *start = instruction.operation_as_Start()) {
    visit(Use{{start->source(), sourceBytes(plan, *start), iterations}, true, false, 1});
    visit(Use{{start->destination(), destinationBytes(plan, *start), iterations}, false, true, 0});
  }
}

/// "kernel gelu_5f3a, argument 2", "copy source", "all-gather destination".
inline std::string nameOf(const fb::Plan &plan, const fb::Instruction &instruction, const Use &use) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return fmt::format("kernel {}, argument {}", view(plan.kernels()->Get(launch->kernel())->symbol()),
                       use.argument);
  const char *operation = "zero";
  if (instruction.operation_type() == fb::Operation::Copy)
    operation = "copy";
  else if (const fb::Start *start = instruction.operation_as_Start())
    operation = collectiveName(start->kind());
  return fmt::format("{} {}", operation, use.argument == 0 ? "destination" : "source");
}

} // namespace trainc::verify
