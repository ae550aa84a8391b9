#include "runtime/training/learning_rate.h"

#include <cmath>
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
  EXPECT_EQ(describeChange(ten, twenty, 10), "the length of the linear schedule has changed from 10 to 20 "
                                             "steps: the last step's learning rate was "
                                             "0.0625, the next one's is 0.277778; the same --steps each "
                                             "time, or a total in the model's schedule, keeps "
                                             "one curve");
  LearningRateCourse lower = ten;
  lower.peak = 0.25;
  EXPECT_EQ(describeChange(ten, lower, 6), "the schedule has changed from linear(warmup 2, minimum 0, total "
                                           "10) of lr 0.5 to linear(warmup 2, minimum "
                                           "0, total 10) of lr 0.25: the last step's learning rate was "
                                           "0.3125, the next one's is 0.125; a plan with "
                                           "the schedule of before keeps one curve");
}

TEST(Schedule, WarmupLongerThanTheRun) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 100, 50, 200), 101.0 / 200);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 200, 50, 200), 0.1);
}

} // namespace
} // namespace trainc
