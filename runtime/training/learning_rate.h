// Learning rate schedules.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>

namespace trainc {

/// Learning rate of the 0-based `step` in a run of `steps`. With w = warmup and T = total (or `steps` if
/// total is 0):
///   step < w:           peak (step + 1) / w
///   constant:           peak
///   step >= T:          minimum
///   linear and cosine:  minimum + (peak - minimum) f(p), p = (step - w) / (T - w),
///                       f(p) = 1 - p, or (1 + cos(pi p)) / 2
double learningRate(const fb::Schedule &schedule, uint64_t step, uint64_t steps);

} // namespace trainc
