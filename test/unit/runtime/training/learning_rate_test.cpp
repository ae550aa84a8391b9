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
  return learningRate(*flatbuffers::GetRoot<fb::Schedule>(builder.GetBufferPointer()), step, 110);
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
    EXPECT_DOUBLE_EQ(learningRate(schedule, step, /*steps=*/4), expected[step]) << step;
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 109, 110),
                   0.1 + 0.9 * (1 + std::cos(std::numbers::pi * 0.99)) / 2);
}

TEST(Schedule, TotalZeroIsTheRunsLength) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 60, 0), 0.55);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Cosine, 110, 0), 0.1);
}

TEST(Schedule, WarmupLongerThanTheRun) {
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 100, 50, 200), 101.0 / 200);
  EXPECT_DOUBLE_EQ(rate(fb::ScheduleKind::Linear, 200, 50, 200), 0.1);
}

} // namespace
} // namespace trainc
