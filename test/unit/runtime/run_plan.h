// Running a plan that may be damaged but was accepted.
#pragma once

#include "plan/facts/memory_by_kind.h"
#include "runtime/exec/executor.h"

namespace trainc::test {

/// Runs every entry once, then again instruction by instruction as after a loss that is not finite; nothing
/// where the device rejects the plan.
inline void runAllEntries(const fb::Plan &plan, Device &device) {
  auto executor = Executor::create(plan, device);
  if (!executor.ok())
    return;
  for (const fb::Entry *entry : *plan.entries()) {
    (void)(*executor)->run(entry->name()->c_str());
    (void)(*executor)->replay(entry->name()->c_str());
  }
  (void)memoryByKind((*executor)->plan());
}

} // namespace trainc::test
