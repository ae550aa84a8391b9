// Disjointness of the arguments of a launch: a kernel's blocks run in any order, so no block may access bytes
// that another one writes. The same holds for library calls.
#include "plan/facts/operand.h"
#include "plan/facts/uses.h"
#include "plan/verify/verify.h"

#include <algorithm>

namespace trainc::verify {

namespace {

/// Whether two operands are the same bytes, in each iteration and on each rank.
bool areSameBytes(const fb::Plan &plan, const fb::Operand &a, const fb::Operand &b) {
  const fb::Buffer &held = *plan.buffers()->Get(a.buffer()), &other = *plan.buffers()->Get(b.buffer());
  return held.arena() == other.arena() && held.offset() + a.offset() == other.offset() + b.offset() &&
         a.loop_stride() == b.loop_stride() && a.rank_stride() == b.rank_stride() &&
         axesOf(a.axes()) == axesOf(b.axes());
}

bool mayAlias(const fb::Param &written, uint32_t other) {
  return written.may_alias() && std::ranges::find(*written.may_alias(), other) != written.may_alias()->end();
}

} // namespace

Status argumentsApart(const fb::Plan &plan, const fb::Launch &launch, uint64_t iterations) {
  const fb::Kernel &kernel = *plan.kernels()->Get(launch.kernel());
  for (uint32_t i = 0; i < launch.args()->size(); ++i)
    for (uint32_t j = 0; j < i; ++j) {
      const fb::Param &param = *kernel.params()->Get(i), &other = *kernel.params()->Get(j);
      const fb::Operand &arg = *launch.args()->Get(i), &otherArg = *launch.args()->Get(j);
      if ((param.access() == fb::Access::Read && other.access() == fb::Access::Read) ||
          !overlap(plan, {&arg, param.bytes(), iterations}, {&otherArg, other.bytes(), iterations}))
        continue;
      if ((mayAlias(param, j) || mayAlias(other, i)) && areSameBytes(plan, arg, otherArg))
        continue;
      return invalidInput(
          "kernel {}, arguments {} and {}: expected bytes apart, or the same where the kernel "
          "says that they may be, found shared bytes of '{}' and '{}'",
          view(kernel.symbol()), j, i, view(plan.buffers()->Get(otherArg.buffer())->name()),
          view(plan.buffers()->Get(arg.buffer())->name()));
    }
  return {};
}

Status operandsApart(const fb::Plan &plan, const fb::Instruction &call, uint64_t iterations) {
  std::vector<Use> uses;
  forEachUse(plan, call, iterations, [&](const Use &use) { uses.push_back(use); });
  for (size_t i = 0; i < uses.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Use &use = uses[i], &other = uses[j];
      if (use.index == other.index || !(use.writes || other.writes) || !overlap(plan, use.range, other.range))
        continue;
      return invalidInput("{} and {}: expected bytes apart, found shared bytes of '{}' and '{}'",
                          nameOf(plan, call, other), libraryOperands(call)[use.index].name,
                          view(plan.buffers()->Get(other.range.operand->buffer())->name()),
                          view(plan.buffers()->Get(use.range.operand->buffer())->name()));
    }
  return {};
}

} // namespace trainc::verify
