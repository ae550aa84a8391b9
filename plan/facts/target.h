// The target of a plan.
#pragma once

#include "plan/facts/view.h"
#include "plan/schema/targets.h"

namespace trainc {

/// Returns the traits of the plan's target; of the default target if it is unknown, which the verifier of
/// plans rejects.
inline const TargetTraits &targetOf(const fb::Plan &plan) {
  const TargetTraits *traits = findTarget(view(plan.target()));
  return traits ? *traits : kDefaultTarget;
}

} // namespace trainc
