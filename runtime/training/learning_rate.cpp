#include "runtime/training/learning_rate.h"

#include "plan/facts/schedules.h"

#include <fmt/format.h>

namespace trainc {

LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps) {
  const uint64_t length = schedule.total() ? schedule.total() : steps;
  return {.kind = schedule.kind(),
          .peak = schedule.peak(),
          .minimum = schedule.minimum(),
          .warmup = schedule.warmup(),
          .steps = formulaOf(schedule.kind()).decays ? length : 0};
}

double learningRate(const LearningRateCourse &course, uint64_t step) {
  if (step < course.warmup)
    return course.peak * static_cast<double>(step + 1) / static_cast<double>(course.warmup);
  const ScheduleFormula &formula = formulaOf(course.kind);
  if (!formula.decays)
    return course.peak;
  if (step >= course.steps)
    return course.minimum;
  const double progress =
      static_cast<double>(step - course.warmup) / static_cast<double>(course.steps - course.warmup);
  return course.minimum + (course.peak - course.minimum) * formula.remaining(progress);
}

/// The settings, as a model's text spells them.
static std::string describe(const LearningRateCourse &course) {
  const std::string length = formulaOf(course.kind).decays ? fmt::format(", total {}", course.steps) : "";
  return fmt::format("{}(warmup {}, minimum {:g}{}) of lr {:g}", formulaOf(course.kind).name, course.warmup,
                     course.minimum, length, course.peak);
}

std::string describeChange(const LearningRateCourse &before, const LearningRateCourse &now, uint64_t step) {
  LearningRateCourse longer = before;
  longer.steps = now.steps;
  const bool isOnlyLonger = longer == now;
  const std::string what =
      isOnlyLonger ? fmt::format("the length of the {} schedule has changed from {} to {} steps",
                                 formulaOf(now.kind).name, before.steps, now.steps)
                   : fmt::format("the schedule has changed from {} to {}", describe(before), describe(now));
  const std::string advice =
      isOnlyLonger ? "the same --steps each time, or a total in the model's schedule, keeps one curve"
                   : "a plan with the schedule of before keeps one curve";
  return fmt::format("{}: the last step's learning rate was {:g}, the next one's is {:g}; {}", what,
                     learningRate(before, step - 1), learningRate(now, step), advice);
}

} // namespace trainc
