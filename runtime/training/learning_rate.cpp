#include "runtime/training/learning_rate.h"

#include "plan/facts/schedules.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

namespace trainc {

static double numberOf(const LearningRateCourse &course, std::string_view word) {
  return numberOf(formulaOf(course.kind), course.numbers, word);
}

LearningRateCourse courseOf(const fb::Schedule &schedule, uint64_t steps) {
  LearningRateCourse course;
  course.kind = schedule.kind();
  course.peak = schedule.peak();
  if (const auto *numbers = schedule.numbers())
    course.numbers.assign(numbers->begin(), numbers->end());
  const bool ends = formulaOf(course.kind).ends;
  if (ends || numberOf(course, "warmup_ratio") > 0)
    course.steps = ends && schedule.total() ? schedule.total() : steps;
  course.hasTotal = ends && schedule.total() > 0;
  return course;
}

/// Returns a length that is given in steps or as a share of the course's.
static uint64_t lengthOf(const LearningRateCourse &course, std::string_view steps, std::string_view ratio) {
  const double share = std::ceil(numberOf(course, ratio) * static_cast<double>(course.steps));
  return static_cast<uint64_t>(std::max(numberOf(course, steps), share));
}

uint64_t warmupOf(const LearningRateCourse &course) { return lengthOf(course, "warmup", "warmup_ratio"); }
uint64_t decayOf(const LearningRateCourse &course) { return lengthOf(course, "decay", "decay_ratio"); }

double learningRate(const LearningRateCourse &course, uint64_t step) {
  const uint64_t warmup = warmupOf(course);
  if (step < warmup)
    return course.peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const uint64_t decay = decayOf(course);
  const uint64_t fallsFrom =
      decay > 0 && decay < course.steps ? std::max(warmup, course.steps - decay) : warmup;
  const double minimum = numberOf(course, "minimum");
  const ScheduleMoment moment = {step, warmup, fallsFrom, course.steps, course.numbers};
  return minimum + (course.peak - minimum) * formulaOf(course.kind).factor(moment);
}

bool decaysToZero(const LearningRateCourse &course) {
  return formulaOf(course.kind).ends && learningRate(course, std::max(course.steps, warmupOf(course))) == 0;
}

std::string describeCourse(const LearningRateCourse &course) {
  const ScheduleFormula &formula = formulaOf(course.kind);
  std::vector<std::string> numbers;
  for (size_t i = 0; i < formula.numbers.size(); ++i)
    if (course.numbers[i] != formula.numbers[i].standard)
      numbers.push_back(fmt::format("{} {:g}", formula.numbers[i].word, course.numbers[i]));
  if (formula.ends && course.steps > 0)
    numbers.push_back(fmt::format("total {}", course.steps));
  return fmt::format("{}{} of lr {:g}", formula.name,
                     numbers.empty() ? "" : fmt::format("({})", fmt::join(numbers, ", ")), course.peak);
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
  const std::string what = isOtherLength ? describeOtherLength(before, now)
                                         : fmt::format("the schedule has changed from {} to {}",
                                                       describeCourse(before), describeCourse(now));
  const char *advice =
      isOtherLength && !before.hasTotal && !now.hasTotal
          ? "the same --steps or --epochs each time, or a total in the model's schedule, keeps one curve"
          : "a plan with the schedule of before keeps one curve";
  return fmt::format("{}: the last step's learning rate was {:g}, the next one's is {:g}; {}", what,
                     learningRate(before, step - 1), learningRate(now, step), advice);
}

} // namespace trainc
