#include "plan/facts/schedules.h"
#include "runtime/training/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

namespace trainc {
namespace {

/// GivenNumbers of a schedule, by word; the others have their defaults.
using GivenNumbers = std::map<std::string, double>;

/// The numbers in the order of the kind's formula.
std::vector<double> inOrder(fb::ScheduleKind kind, const GivenNumbers &given) {
  std::vector<double> numbers;
  for (const ScheduleNumber &number : formulaOf(kind).numbers) {
    const auto found = given.find(std::string(number.word));
    numbers.push_back(found == given.end() ? number.standard : found->second);
  }
  return numbers;
}

/// The course of a plan's schedule in a run of `steps`.
LearningRateCourse course(fb::ScheduleKind kind, double peak, const GivenNumbers &given, uint64_t total,
                          uint64_t steps) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<double> numbers = inOrder(kind, given);
  builder.Finish(fb::CreateScheduleDirect(builder, kind, peak, &numbers, total));
  return courseOf(*flatbuffers::GetRoot<fb::Schedule>(builder.GetBufferPointer()), steps);
}

/// The rate of `step` of a run of 110 steps.
double rate(fb::ScheduleKind kind, uint64_t step, uint64_t total, double warmup = 10) {
  return learningRate(course(kind, 1.0, {{"warmup", warmup}, {"minimum", 0.1}}, total, 110), step);
}

/// A case of schedules.txt.
struct GoldenCase {
  std::string text; ///< such as `polynomial(warmup 20, power 2)`
  fb::ScheduleKind kind = fb::ScheduleKind::Constant;
  GivenNumbers numbers;
  std::vector<double> rates; ///< of the steps after the warmup
};

std::vector<GoldenCase> goldenCases() {
  std::ifstream file(TRAINC_GOLDEN_DIR "/schedules.txt");
  std::vector<GoldenCase> cases;
  for (std::string text, rates; std::getline(file, text) && std::getline(file, rates);) {
    GoldenCase &each = cases.emplace_back();
    each.text = text;
    const size_t bracket = text.find('(');
    each.kind = findSchedule(text.substr(0, bracket)).value();
    std::string list = text.substr(bracket + 1);
    std::ranges::replace_if(list, [](char c) { return c == ',' || c == ')'; }, ' ');
    std::istringstream numbers(list), values(rates);
    std::string word;
    for (double number = 0; numbers >> word >> number;)
      each.numbers[word] = number;
    for (double value = 0; values >> value;)
      each.rates.push_back(value);
  }
  return cases;
}

TEST(Schedule, EqualsThoseOfPyTorchAndTransformers) {
  constexpr uint64_t steps = 200;
  const std::vector<GoldenCase> cases = goldenCases();
  EXPECT_EQ(cases.size(), 13U);
  for (const GoldenCase &each : cases) {
    const LearningRateCourse found = course(each.kind, 0.5, each.numbers, /*total=*/0, steps);
    ASSERT_EQ(warmupOf(found) + each.rates.size(), steps) << each.text;
    for (size_t i = 0; i < each.rates.size(); ++i)
      EXPECT_NEAR(learningRate(found, warmupOf(found) + i), each.rates[i], 1e-14)
          << each.text << ", rate " << i;
  }
}

/// DeepSpeed's LRRangeTest: min_lr (1 + step_rate k / step_size), or in stairs.
TEST(Schedule, TheRangeTestGrowsByIntervals) {
  const auto smooth =
      course(fb::ScheduleKind::LrRangeTest, 0.5, {{"step_size", 4}, {"step_rate", 2}}, 0, 100);
  const auto stairs = course(fb::ScheduleKind::LrRangeTest, 0.5,
                             {{"step_size", 4}, {"step_rate", 2}, {"staircase", 1}}, 0, 100);
  const double risen[] = {0.5, 0.75, 1, 1.25, 1.5, 1.75}, stepped[] = {0.5, 0.5, 0.5, 0.5, 1.5, 1.5};
  for (uint64_t step = 0; step < std::size(risen); ++step) {
    EXPECT_DOUBLE_EQ(learningRate(smooth, step), risen[step]);
    EXPECT_DOUBLE_EQ(learningRate(stairs, step), stepped[step]);
  }
}

/// A share is that of the length, rounded up: of the total or, without one, of the run.
TEST(Schedule, SharesAreOfTheLength) {
  EXPECT_EQ(warmupOf(course(fb::ScheduleKind::Linear, 1, {{"warmup_ratio", 0.03}}, 0, 110)), 4U);
  EXPECT_EQ(warmupOf(course(fb::ScheduleKind::Linear, 1, {{"warmup_ratio", 0.03}}, 1000, 110)), 30U);
  EXPECT_EQ(warmupOf(course(fb::ScheduleKind::Constant, 1, {{"warmup_ratio", 0.5}}, 0, 110)), 55U);
  EXPECT_DOUBLE_EQ(learningRate(course(fb::ScheduleKind::Linear, 1, {{"decay_ratio", 0.1}}, 100, 100), 90),
                   1);
  EXPECT_DOUBLE_EQ(learningRate(course(fb::ScheduleKind::Linear, 1, {{"decay_ratio", 0.1}}, 100, 100), 95),
                   0.5);
}

TEST(Schedule, ZeroIsReachedByThoseThatFallToIt) {
  for (const fb::ScheduleKind kind : fb::EnumValuesScheduleKind()) {
    const bool falls = formulaOf(kind).ends && kind != fb::ScheduleKind::OneCycle;
    EXPECT_EQ(decaysToZero(course(kind, 1, {}, 0, 10)), falls) << formulaOf(kind).name;
    EXPECT_FALSE(decaysToZero(course(kind, 1, {{"minimum", 0.1}}, 0, 10))) << formulaOf(kind).name;
  }
}

TEST(Schedule, WarmupIsLinear) {
  for (const auto kind : {fb::ScheduleKind::Constant, fb::ScheduleKind::Linear, fb::ScheduleKind::Cosine}) {
    EXPECT_DOUBLE_EQ(rate(kind, 0, 110), 0.1);
    EXPECT_DOUBLE_EQ(rate(kind, 4, 110), 0.5);
    EXPECT_DOUBLE_EQ(rate(kind, 9, 110), 1.0);
    EXPECT_DOUBLE_EQ(rate(kind, 10, 110), 1.0);
    EXPECT_DOUBLE_EQ(rate(kind, 0, 110, 0), 1.0);
  }
}

TEST(Schedule, DecaysToTheMinimumAtTotal) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Constant, 500, 110), 1.0);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 60, 110), 0.55);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 109, 110), 0.1 + 0.9 * 0.01);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 110, 110), 0.1);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 500, 110), 0.1);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 60, 110), 0.55);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 35, 110), 0.1 + 0.9 * (1 + std::numbers::sqrt2 / 2) / 2);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 500, 110), 0.1);
}

/// As docs/reference/program.md has it: the minimum is the rate of the step after `total` steps.
TEST(Schedule, TheLastStepIsAboveTheMinimum) {
  const LearningRateCourse four = course(fb::ScheduleKind::Linear, 1e-2, {{"minimum", 1e-3}}, 0, /*steps=*/4);
  const double expected[] = {1e-2, 7.75e-3, 5.5e-3, 3.25e-3, 1e-3, 1e-3};
  for (uint64_t step = 0; step < std::size(expected); ++step)
    EXPECT_DOUBLE_EQ(learningRate(four, step), expected[step]) << step;
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 109, 110),
                   0.1 + 0.9 * (1 + std::cos(std::numbers::pi * 0.99)) / 2);
}

TEST(Schedule, TotalZeroIsTheRunsLength) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 60, 0), 0.55);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 110, 0), 0.1);
}

TEST(Schedule, ConstantHasNoLength) {
  EXPECT_EQ(course(fb::ScheduleKind::Constant, 1, {{"warmup", 10}}, 100, 5),
            course(fb::ScheduleKind::Constant, 1, {{"warmup", 10}}, 100, 6));
}

TEST(Schedule, ChangesAreDescribed) {
  const LearningRateCourse ten = course(fb::ScheduleKind::Linear, 0.5, {{"warmup", 2}}, 0, 10);
  LearningRateCourse twenty = ten;
  twenty.steps = 20;
  EXPECT_EQ(describeChange(ten, twenty, 10),
            "the run is longer, 20 steps instead of 10, and the linear "
            "schedule with it: the last step's learning rate was "
            "0.0625, the next one's is 0.277778; the same --steps or --epochs each "
            "time, or a total in the model's schedule, keeps "
            "one curve");
  EXPECT_THAT(
      describeChange(twenty, ten, 5),
      testing::HasSubstr("the run is shorter, 10 steps instead of 20, and the linear schedule with it: "));
  LearningRateCourse lower = ten;
  lower.peak = 0.25;
  EXPECT_EQ(describeChange(ten, lower, 6), "the schedule has changed from linear(warmup 2, total "
                                           "10) of lr 0.5 to linear(warmup 2, "
                                           "total 10) of lr 0.25: the last step's learning rate was "
                                           "0.3125, the next one's is 0.125; a plan with "
                                           "the schedule of before keeps one curve");
}

/// A schedule with a total does not depend on the length of the run, which is not blamed then.
TEST(Schedule, ChangesOfTheTotalAreDescribed) {
  const LearningRateCourse ofRun = course(fb::ScheduleKind::Cosine, 0.5, {{"warmup", 2}}, 0, 10);
  LearningRateCourse ofTotal = ofRun;
  ofTotal.hasTotal = true;
  EXPECT_TRUE(areSameRates(ofRun, ofTotal));
  EXPECT_FALSE(ofRun == ofTotal);
  LearningRateCourse larger = ofTotal;
  larger.steps = 20;
  EXPECT_FALSE(areSameRates(ofRun, larger));
  EXPECT_THAT(describeChange(ofTotal, larger, 5),
              testing::StartsWith(
                  "the cosine schedule's total was 10 steps, and is 20 in this plan: the last step's "));
  EXPECT_THAT(describeChange(ofTotal, larger, 5),
              testing::EndsWith("; a plan with the schedule of before keeps one curve"));
  EXPECT_THAT(describeChange(ofRun, larger, 5),
              testing::StartsWith(
                  "the cosine schedule ended with the run's 10 steps, and has a total of 20 in this plan: "));
  EXPECT_THAT(describeChange(larger, ofRun, 5),
              testing::StartsWith(
                  "the cosine schedule had a total of 20 steps, and ends with the run's 10 steps in this "
                  "plan: "));
}

TEST(Schedule, WarmupLongerThanTheRun) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 100, 50, 200), 101.0 / 200);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 200, 50, 200), 0.1);
}

} // namespace
} // namespace trainc
