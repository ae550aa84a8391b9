#include "runtime/exec/state_writes.h"

#include <algorithm>

namespace trainc {

namespace {

bool isState(const fb::Plan &plan, const fb::Operand &operand) {
  const fb::Role role = plan.buffers()->Get(operand.buffer())->role();
  return role == fb::Role::Parameter || role == fb::Role::Optimizer;
}

bool launchWritesState(const fb::Plan &plan, const fb::Launch &launch) {
  const fb::Kernel &kernel = *plan.kernels()->Get(launch.kernel());
  for (flatbuffers::uoffset_t i = 0; i < launch.args()->size(); ++i)
    if (kernel.params()->Get(i)->access() != fb::Access::Read && isState(plan, *launch.args()->Get(i)))
      return true;
  return false;
}

bool startWritesState(const fb::Plan &plan, const fb::Start &start) {
  for (const fb::Range *range : *start.ranges())
    if (isState(plan, *range->destination()))
      return true;
  return false;
}

bool writesState(const fb::Plan &plan, const fb::Instruction &instruction) {
  if (const fb::Launch *launch = instruction.operation_as_Launch())
    return launchWritesState(plan, *launch);
  if (const fb::Copy *copy = instruction.operation_as_Copy())
    return isState(plan, *copy->destination());
  if (const fb::Start *start = instruction.operation_as_Start())
    return startWritesState(plan, *start);
  const fb::Zero *zero = instruction.operation_as_Zero();
  return zero && isState(plan, *zero->destination());
}

} // namespace

uint32_t firstStateWrite(const fb::Plan &plan, const Program &program) {
  const auto found = std::ranges::find_if(
      program.steps, [&](const Step &step) { return writesState(plan, *step.instruction); });
  return static_cast<uint32_t>(found - program.steps.begin());
}

} // namespace trainc
