// Verification of hand-made plans.
#pragma once

#include "test/unit/plan/plans/plan_builder.h"

#include <string>

namespace trainc::test {

/// "accepted", or the verifier's message.
inline std::string messageOf(const PlanBuilder &builder) {
  PlanBytes bytes(builder.payload());
  const auto result = bytes.read();
  return result.ok() ? "accepted" : result.status().message();
}

/// The operation of an instruction that is not in a loop; must be a T.
template <typename T> T &operation(PlanBuilder &builder, size_t entry, size_t instruction) {
  return *static_cast<T *>(builder.plan.entries[entry]->instructions[instruction]->operation.value);
}

} // namespace trainc::test
