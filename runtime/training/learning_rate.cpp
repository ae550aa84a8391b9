#include "runtime/training/learning_rate.h"

#include "plan/facts/schedules.h"

#include <fmt/format.h>

namespace trainc {

LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps) {
  const uint64_t length = schedule.total() ? schedule.total() : steps;
  const bool decays = formulaOf(schedule.kind()).decays;
  return {.kind = schedule.kind(),
          .peak = schedule.peak(),
          .minimum = schedule.minimum(),
          .warmup = schedule.warmup(),
          .steps = decays ? length : 0,
          .hasTotal = decays && schedule.total() > 0};
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

bool decaysToZero(const LearningRateCourse &course) {
  return formulaOf(course.kind).decays && course.minimum == 0;
}

/// The settings, as a model's text spells them.
static std::string describe(const LearningRateCourse &course) {
  const std::string length = formulaOf(course.kind).decays ? fmt::format(", total {}", course.steps) : "";
  return fmt::format("{}(warmup {}, minimum {:g}{}) of lr {:g}", formulaOf(course.kind).name, course.warmup,
                     course.minimum, length, course.peak);
}

bool areSameRates(const LearningRateCourse &a, const LearningRateCourse &b) {
  LearningRateCourse other = b;
  other.hasTotal = a.hasTotal;
  return a == other;
}

/// Says that the length has changed, and nothing else.
static std::string describeOtherLength(const LearningRateCourse &before, const LearningRateCourse &now) {
  const char *name = formulaOf(now.kind).name;
  if (before.hasTotal && now.hasTotal)
    return fmt::format("the {} schedule's total was {} steps, and is {} in this plan", name, before.steps,
                       now.steps);
  if (before.hasTotal)
    return fmt::format(
        "the {} schedule had a total of {} steps, and ends with the run's {} steps in this plan", name,
        before.steps, now.steps);
  if (now.hasTotal)
    return fmt::format("the {} schedule ended with the run's {} steps, and has a total of {} in this plan",
                       name, before.steps, now.steps);
  return fmt::format("the run is {}, {} steps instead of {}, and the {} schedule with it",
                     now.steps > before.steps ? "longer" : "shorter", now.steps, before.steps, name);
}

std::string describeChange(const LearningRateCourse &before, const LearningRateCourse &now, uint64_t step) {
  LearningRateCourse sameLength = now;
  sameLength.steps = before.steps;
  const bool isOtherLength = areSameRates(sameLength, before);
  const std::string what =
      isOtherLength ? describeOtherLength(before, now)
                    : fmt::format("the schedule has changed from {} to {}", describe(before), describe(now));
  const char *advice = isOtherLength && !before.hasTotal && !now.hasTotal
                           ? "the same --steps each time, or a total in the model's schedule, keeps one curve"
                           : "a plan with the schedule of before keeps one curve";
  return fmt::format("{}: the last step's learning rate was {:g}, the next one's is {:g}; {}", what,
                     learningRate(before, step - 1), learningRate(now, step), advice);
}

} // namespace trainc
