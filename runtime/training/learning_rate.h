// Learning rate schedules.
#pragma once

#include "runtime/state/trainer_state.h"

#include <cstdint>

namespace trainc {

/// Course of the learning rate in a run of `steps`, which is its length T unless the schedule has a total.
LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps);

/// Steps of the warmup, given as such or as a share of the length (rounded up, as transformers'
/// warmup_ratio).
uint64_t warmupOf(const LearningRateCourse &course);
/// Steps at the end in which the rate falls, given in the same ways; 0: all after the warmup.
uint64_t decayOf(const LearningRateCourse &course);

/// Rate of the 0-based `step`, with w = warmup:
///   step < w:   peak (step + 1) / w
///   later:      minimum + (peak - minimum) factor(step)
/// plan/facts/schedules.h has the formulas of the factors.
double learningRate(const LearningRateCourse &course, uint64_t step);

/// The schedule with its numbers as a model's text has them, and the peak: "linear(warmup 2, total 10) of lr
/// 0.5".
std::string describeCourse(const LearningRateCourse &course);

/// Whether the rate is 0 from the 0-based step `course.steps` on.
bool decaysToZero(const LearningRateCourse &course);

/// Whether the rates of all steps are the same, whatever determines the length.
bool areSameRates(const LearningRateCourse &a, const LearningRateCourse &b);

/// Says how the course of the rate has changed, and by how much the rate of the next step, the 0-based
/// `step`, differs from that of the step before it.
std::string describeChange(const LearningRateCourse &before, const LearningRateCourse &now, uint64_t step);

} // namespace trainc
