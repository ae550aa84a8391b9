// Learning rate schedules.
#pragma once

#include "runtime/state/trainer_state.h"

#include <cstdint>

namespace trainc {

/// Course of the learning rate in a run of `steps`, which is its length T unless the schedule has a total.
LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps);

/// Rate of the 0-based `step`. With w = warmup and T = length:
///   step < w:           peak (step + 1) / w
///   constant:           peak
///   step >= T:          minimum
///   linear and cosine:  minimum + (peak - minimum) f(p), p = (step - w) / (T - w),
///                       f(p) = 1 - p, or (1 + cos(pi p)) / 2
double learningRate(const LearningRateCourse &course, uint64_t step);

/// Says how the course of the rate has changed, and by how much the rate of the next step, the 0-based
/// `step`, differs from that of the step before it.
std::string describeChange(const LearningRateCourse &before, const LearningRateCourse &now, uint64_t step);

} // namespace trainc
