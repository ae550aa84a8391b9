#include "runtime/training/learning_rate.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <numbers>

namespace trainc {
namespace {

/// The rate of `step` of a run of 110 steps.
double rate(fb::ScheduleKind kind, uint64_t step, uint64_t total, uint64_t warmup = 10) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateSchedule(builder, kind, /*peak=*/1.0, /*minimum=*/0.1, warmup, total));
  return learningRate(courseOf(*flatbuffers::GetRoot<fb::Schedule>(builder.GetBufferPointer()), 110), step);
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
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateSchedule(builder, fb::ScheduleKind::Linear, /*peak=*/1e-2, /*minimum=*/1e-3));
  const auto &schedule = *flatbuffers::GetRoot<fb::Schedule>(builder.GetBufferPointer());
  const double expected[] = {1e-2, 7.75e-3, 5.5e-3, 3.25e-3, 1e-3, 1e-3};
  for (uint64_t step = 0; step < std::size(expected); ++step)
    EXPECT_DOUBLE_EQ(learningRate(courseOf(schedule, /*steps=*/4), step), expected[step]) << step;
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 109, 110),
                   0.1 + 0.9 * (1 + std::cos(std::numbers::pi * 0.99)) / 2);
}

TEST(Schedule, TotalZeroIsTheRunsLength) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 60, 0), 0.55);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 110, 0), 0.1);
}

TEST(Schedule, ConstantHasNoLength) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateSchedule(builder, fb::ScheduleKind::Constant, 1.0, 0.1, 10, 100));
  const auto &schedule = *flatbuffers::GetRoot<fb::Schedule>(builder.GetBufferPointer());
  EXPECT_EQ(courseOf(schedule, 5), courseOf(schedule, 6));
}

TEST(Schedule, ChangesAreDescribed) {
  const LearningRateCourse ten{.kind = fb::ScheduleKind::Linear, .peak = 0.5, .warmup = 2, .steps = 10};
  LearningRateCourse twenty = ten;
  twenty.steps = 20;
  EXPECT_EQ(describeChange(ten, twenty, 10), "the run is longer, 20 steps instead of 10, and the linear "
                                             "schedule with it: the last step's learning rate was "
                                             "0.0625, the next one's is 0.277778; the same --steps each "
                                             "time, or a total in the model's schedule, keeps "
                                             "one curve");
  EXPECT_THAT(
      describeChange(twenty, ten, 5),
      testing::HasSubstr("the run is shorter, 10 steps instead of 20, and the linear schedule with it: "));
  LearningRateCourse lower = ten;
  lower.peak = 0.25;
  EXPECT_EQ(describeChange(ten, lower, 6), "the schedule has changed from linear(warmup 2, minimum 0, total "
                                           "10) of lr 0.5 to linear(warmup 2, minimum "
                                           "0, total 10) of lr 0.25: the last step's learning rate was "
                                           "0.3125, the next one's is 0.125; a plan with "
                                           "the schedule of before keeps one curve");
}

/// A schedule with a total does not depend on the length of the run, which is not blamed then.
TEST(Schedule, ChangesOfTheTotalAreDescribed) {
  const LearningRateCourse ofRun{.kind = fb::ScheduleKind::Cosine, .peak = 0.5, .warmup = 2, .steps = 10};
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
