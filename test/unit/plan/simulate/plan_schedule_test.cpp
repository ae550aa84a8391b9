// Entries of hand-made plans as tasks on streams.
#include "plan/facts/step_entries.h"
#include "plan/simulate/plan_schedule.h"
#include "test/unit/plan/simulate/payload.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using namespace test;
using testing::ElementsAre;

TEST(PlanSchedule, InstructionsRunOnTheirStreamsAfterOthers) {
  PlanBuilder builder;
  const uint32_t buffer = builder.buffer("x", PlanBuilder::kScratch, fb::DType::F32, 64);
  auto &body = builder.entry("update").instructions;
  const fb::Operand all = at(buffer);
  const auto predict = [&](float seconds) { body.back()->predicted_seconds = seconds; };
  builder.zero(body, all, 256);
  predict(1);
  builder.collective(body, {fb::CollectiveKind::AllReduce, {{all, all, 64}}});
  PlanBuilder::on(body, fb::Stream::Communication);
  PlanBuilder::after(body, {0});
  predict(2);
  builder.zero(body, all, 256);
  PlanBuilder::after(body, {1});
  predict(4);
  const Payload payload(builder.plan);
  Machine machine;
  machine.linkShareBesideCompute = 0.5;
  const Schedule schedule =
      scheduleOf(*payload.plan().entries()->Get(0), predictedSeconds, streamSlowdowns(machine));
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 1}, TaskSpan{1, 3}, TaskSpan{3, 7}));
  EXPECT_EQ(schedule.streams[static_cast<size_t>(fb::Stream::Communication)].exposed, 2);
}

TEST(PlanSchedule, AStepRunsMicroStepsAsOftenAsItAccumulates) {
  PlanBuilder builder;
  builder.plan.training = std::make_unique<fb::TrainingT>();
  builder.plan.training->accumulate = 8;
  for (const char *name : {"init", "begin_step", "micro_step", "update", "eval"})
    builder.entry(name);
  const auto runs = [](const fb::Plan &plan) {
    std::vector<uint64_t> runs;
    for (const fb::Entry *entry : *plan.entries())
      runs.push_back(runsPerStep(plan, *entry));
    return runs;
  };
  EXPECT_THAT(runs(Payload(builder.plan).plan()), ElementsAre(0, 1, 8, 1, 0));
  builder.entry("last_micro_step");
  EXPECT_THAT(runs(Payload(builder.plan).plan()), ElementsAre(0, 1, 7, 1, 0, 1));
}

} // namespace
} // namespace trainc
