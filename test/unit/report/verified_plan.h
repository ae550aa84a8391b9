// A hand-made plan that the verifier has accepted.
#pragma once

#include "test/unit/plan/plans/plan_builder.h"

#include <stdexcept>

namespace trainc::test {

class VerifiedPlan {
public:
  explicit VerifiedPlan(const PlanBuilder &builder) : bytes_(builder.payload()), plan_(bytes_.read()) {
    if (!plan_.ok())
      throw std::runtime_error(plan_.status().message());
  }
  const fb::Plan &plan() const { return **plan_; }

private:
  PlanBytes bytes_;
  Result<const fb::Plan *> plan_;
};

} // namespace trainc::test
