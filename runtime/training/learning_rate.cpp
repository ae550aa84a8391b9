#include "runtime/training/learning_rate.h"

#include "plan/facts/dtype.h"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace trainc {

/// Remaining fraction between minimum and peak at `progress`, from 0 to 1 after the warmup.
static double remaining(fb::ScheduleKind kind, double progress) {
  switch (kind) {
  case fb::ScheduleKind::Constant:
    return 1;
  case fb::ScheduleKind::Linear:
    return 1 - progress;
  case fb::ScheduleKind::Cosine:
    return (1 + std::cos(std::numbers::pi * progress)) / 2;
  }
  return 1; // excluded by the verifier
}

LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps) {
  const uint64_t length = schedule.total() ? schedule.total() : steps;
  return {.kind = schedule.kind(),
          .peak = schedule.peak(),
          .minimum = schedule.minimum(),
          .warmup = schedule.warmup(),
          .steps = schedule.kind() == fb::ScheduleKind::Constant ? 0 : length};
}

double learningRate(const LearningRateCourse &course, uint64_t step) {
  if (step < course.warmup)
    return course.peak * static_cast<double>(step + 1) / static_cast<double>(course.warmup);
  if (course.kind == fb::ScheduleKind::Constant)
    return course.peak;
  if (step >= course.steps)
    return course.minimum;
  const double progress =
      static_cast<double>(step - course.warmup) / static_cast<double>(course.steps - course.warmup);
  return course.minimum + (course.peak - course.minimum) * remaining(course.kind, progress);
}

/// The settings, as a model's text spells them.
static std::string describe(const LearningRateCourse &course) {
  const std::string length =
      course.kind == fb::ScheduleKind::Constant ? "" : fmt::format(", total {}", course.steps);
  return fmt::format("{}(warmup {}, minimum {:g}{}) of lr {:g}", scheduleName(course.kind), course.warmup,
                     course.minimum, length, course.peak);
}

std::string describeChange(const LearningRateCourse &before, const LearningRateCourse &now, uint64_t step) {
  LearningRateCourse longer = before;
  longer.steps = now.steps;
  const bool isOnlyLonger = longer == now;
  const std::string what =
      isOnlyLonger ? fmt::format("the length of the {} schedule has changed from {} to {} steps",
                                 scheduleName(now.kind), before.steps, now.steps)
                   : fmt::format("the schedule has changed from {} to {}", describe(before), describe(now));
  const std::string advice =
      isOnlyLonger ? "the same --steps each time, or a total in the model's schedule, keeps one curve"
                   : "a plan with the schedule of before keeps one curve";
  return fmt::format("{}: the last step's learning rate was {:g}, the next one's is {:g}; {}", what,
                     learningRate(before, step - 1), learningRate(now, step), advice);
}

} // namespace trainc
