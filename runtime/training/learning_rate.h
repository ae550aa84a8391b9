// Learning rate schedules.
#pragma once

#include "runtime/state/trainer_state.h"

#include <cstdint>

namespace trainc {

/// Course of the learning rate in a run of `steps`, which is its length T unless the schedule has a total.
LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps);

/// Rate of the 0-based `step`. With w = warmup and T = length:
///   step < w:           peak (step + 1) / w
///   does not decay:     peak
///   step >= T:          minimum
///   decays:             minimum + (peak - minimum) remaining(p), p = (step - w) / (T - w)
/// plan/facts/schedules.h has the formulas.
double learningRate(const LearningRateCourse &course, uint64_t step);

/// Whether the rate is 0 from the 0-based step `course.steps` on.
bool decaysToZero(const LearningRateCourse &course);

/// Whether the rates of all steps are the same, whatever determines the length.
bool areSameRates(const LearningRateCourse &a, const LearningRateCourse &b);

/// Says how the course of the rate has changed, and by how much the rate of the next step, the 0-based
/// `step`, differs from that of the step before it.
std::string describeChange(const LearningRateCourse &before, const LearningRateCourse &now, uint64_t step);

} // namespace trainc
