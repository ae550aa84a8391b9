// Counts of a verified plan's parameters and of what one step trains on.
#pragma once

#include "plan/schema/plan_generated.h"

#include <algorithm>
#include <cstdint>

namespace trainc {

/// Elements of all parameters, trained or frozen.
inline uint64_t parameterCount(const fb::Plan &plan) {
  uint64_t count = 0;
  for (const fb::State *state : *plan.states()) {
    if (state->role() != fb::Role::Parameter)
      continue;
    uint64_t elements = 1;
    for (const uint64_t extent : *state->shape())
      elements *= extent;
    count += elements;
  }
  return count;
}

/// Samples of one step, over all ranks and micro-batches. The plan must train.
inline uint64_t samplesPerStep(const fb::Plan &plan) {
  return plan.training()->micro_batch() * plan.training()->accumulate() * plan.ranks();
}

/// Unit of throughput: "tokens", or "samples" if the model has no length.
inline const char *workUnit(const fb::Plan &plan) {
  return plan.training() && plan.training()->seq_len() > 0 ? "tokens" : "samples";
}

/// Tokens of one step, or samples if the model has no length. The plan must train.
inline uint64_t workPerStep(const fb::Plan &plan) {
  return samplesPerStep(plan) * std::max<uint64_t>(1, plan.training()->seq_len());
}

} // namespace trainc
