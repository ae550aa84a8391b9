// A hand-made plan as a reader sees it.
#pragma once

#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

class Payload {
public:
  explicit Payload(const fb::PlanT &plan) { fb::FinishPlanBuffer(builder_, fb::Plan::Pack(builder_, &plan)); }
  const fb::Plan &plan() const { return *fb::GetPlan(builder_.GetBufferPointer()); }

private:
  flatbuffers::FlatBufferBuilder builder_;
};

} // namespace trainc::test
