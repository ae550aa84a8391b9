// Profiles by numbers that a test tells: idle time, rooflines, rows that are merged.
#include "runtime/exec/measurement.h"

#include "plan/facts/work.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <gmock/gmock.h>
#include <map>
#include <optional>

namespace trainc::test {
namespace {

using testing::DoubleEq;
using testing::IsSupersetOf;
using testing::Key;
using testing::Optional;

class MeasurementTest : public testing::Test {
protected:
  void SetUp() override {
    use(fullPlan());
    ASSERT_TRUE(bytes->read().ok()) << bytes->read().status().message();
  }
  void use(const PlanBuilder &builder, std::string_view name = "micro_step") {
    bytes.emplace(builder.payload());
    plan = fb::GetPlan(bytes->payload().data());
    const std::vector<DeviceAddress> buffers(plan->buffers()->size());
    for (const fb::Entry *entry : *plan->entries())
      if (entry->name()->string_view() == name)
        program = resolveProgram(*plan, *entry, 0, buffers);
  }
  Profiler profiler(DeviceRates rates) {
    Profiler made(*plan, std::move(rates));
    made.reserve(program);
    return made;
  }
  const Step &product() const {
    for (const Step &step : program.steps)
      if (factsOf(*plan, step).kind == ProfileKind::Gemm)
        return step;
    return program.steps.front();
  }

  std::optional<PlanBytes> bytes;
  const fb::Plan *plan = nullptr;
  Program program;
};

TEST_F(MeasurementTest, IdleIsWhenNoStreamWorks) {
  Profiler measured = profiler({});
  measured.onStep(product(), {0, 5}); // before any step
  measured.beginTrainingStep();
  measured.onStep(product(), {12, 14});
  measured.onStep(product(), {11, 13}); // on another stream
  measured.onStep(product(), {16, 17});
  measured.onStep(product(), {11.5, 12.5});
  measured.endTrainingStep({10, 20});
  measured.beginTrainingStep();
  measured.endTrainingStep({20, 21});
  const Profile profile = measured.profile();
  EXPECT_EQ(profile.steps, 2U);
  EXPECT_DOUBLE_EQ(profile.stepSeconds, 11);
  EXPECT_DOUBLE_EQ(profile.idleSeconds, 10 - 3 - 1 + 1);
}

/// Two overlapping collectives, and a wait that begins before both.
TEST_F(MeasurementTest, CommunicationIsExposedWhereItIsWaitedFor) {
  CommunicationSpans spans;
  spans.addCollective({12, 16});
  spans.addCollective({14, 18});
  spans.addWait({11, 13});
  spans.addWait({17, 18});
  const CommunicationSeconds first = spans.seconds();
  EXPECT_DOUBLE_EQ(first.waited, 3);
  EXPECT_DOUBLE_EQ(first.inFlight, 6);
  EXPECT_DOUBLE_EQ(first.exposed, 2);
  spans.addCollective({20, 21});
  const CommunicationSeconds more = spans.seconds() - first;
  EXPECT_DOUBLE_EQ(more.waited, 0);
  EXPECT_DOUBLE_EQ(more.inFlight, 1);
  EXPECT_DOUBLE_EQ(more.exposed, 0);
}

TEST_F(MeasurementTest, ARooflineIsTheSlowerOfTwoRates) {
  const StepFacts facts = factsOf(*plan, product());
  ASSERT_GT(facts.flops, 0);
  ASSERT_GT(facts.bytes, 0);
  // Half a second of FLOPs, a quarter of bytes; the rate computed from the clock is used if none was
  // measured.
  DeviceRates rates;
  rates.memoryBytes = 4 * facts.bytes;
  rates.f32Flops = 2 * facts.flops;
  rates.halfFlops = 1;
  EXPECT_THAT(facts.minSeconds(rates), Optional(DoubleEq(0.5)));
  rates.copiedBytes = facts.bytes;
  EXPECT_THAT(facts.minSeconds(rates), Optional(DoubleEq(1)));
  rates.f32Flops = 0;
  EXPECT_EQ(facts.minSeconds(rates), std::nullopt) << "of a product, bytes alone say nothing";
}

TEST_F(MeasurementTest, RowsHaveSharesOfTheRoofline) {
  const StepFacts facts = factsOf(*plan, product());
  DeviceRates rates;
  rates.memoryBytes = 1e30;
  rates.f32Flops = facts.flops;
  Profiler measured = profiler(rates);
  measured.onStep(product(), {0, 3});
  measured.onStep(product(), {4, 9});
  const Profile profile = measured.profile();
  ASSERT_EQ(profile.rows.size(), 1U);
  EXPECT_EQ(profile.rows[0].seconds, 8);
  EXPECT_THAT(profile.rows[0].rooflineShare(), Optional(DoubleEq(0.25)));
}

TEST_F(MeasurementTest, NumbersOf16BitsHaveARateOfTheirOwn) {
  EXPECT_EQ(factsOf(*plan, product()).flopsRate, &DeviceRates::f32Flops);
  PlanBuilder builder = fullPlan();
  for (const auto &kernel : builder.plan.kernels)
    if (kernel->kind == fb::KernelKind::Gemm)
      kernel->params[0]->dtype = fb::DType::BF16;
  use(builder);
  EXPECT_EQ(factsOf(*plan, product()).flopsRate, &DeviceRates::halfFlops);
}

TEST_F(MeasurementTest, RowsHaveWhatWasPredicted) {
  PlanBuilder builder = fullPlan();
  for (const auto &entry : builder.plan.entries)
    for (const auto &instruction : entry->instructions)
      instruction->predicted_seconds = 0.25F;
  use(builder);
  Profiler measured = profiler({});
  measured.onStep(product(), {0, 3});
  measured.onStep(product(), {4, 9});
  EXPECT_EQ(measured.profile().rows.at(0).predictedSeconds, 0.5);
}

/// A slice's source is the whole tensor, of which it reads as much as it writes.
TEST_F(MeasurementTest, CopiesByKernelsCountWhatTheyMove) {
  PlanBuilder builder = fullPlan();
  for (const auto &kernel : builder.plan.kernels)
    if (kernel->kind == fb::KernelKind::Gemm) {
      kernel->kind = fb::KernelKind::Copy;
      kernel->params.resize(2);
      kernel->params[0]->bytes = 4096;
      kernel->params[1]->bytes = 64;
      kernel->moved_bytes = 128;
    }
  use(builder);
  EXPECT_THAT(program.steps, testing::Contains(testing::Truly([&](const Step &step) {
                const StepFacts facts = factsOf(*plan, step);
                return facts.kind == ProfileKind::Move && facts.bytes == 128;
              })));
}

/// Caches may serve what is read repeatedly, so it does not bound the time; rows that a kernel skips do not
/// count.
TEST_F(MeasurementTest, BytesAreThoseThatMustMove) {
  const double once = factsOf(*plan, product()).bytes;
  for (const double moved : {0.5 * once, 3 * once}) {
    PlanBuilder builder = fullPlan();
    for (const auto &kernel : builder.plan.kernels)
      if (kernel->kind == fb::KernelKind::Gemm)
        kernel->moved_bytes = static_cast<uint64_t>(moved);
    use(builder);
    EXPECT_EQ(factsOf(*plan, product()).bytes, std::min(once, moved));
    EXPECT_EQ(workOf(*plan, *product().instruction)->bytes, moved) << "for predictions";
  }
}

/// A device's rates do not include those of links between memories.
TEST_F(MeasurementTest, CopiesBetweenMemoriesHaveNoRoofline) {
  use(spacesPlan(), "init");
  DeviceRates rates;
  rates.memoryBytes = 1;
  std::map<std::string, StepFacts> copies;
  for (const Step &step : program.steps)
    if (const auto *copy = std::get_if<CopyStep>(&step.operation)) {
      const StepFacts facts = factsOf(*plan, step);
      EXPECT_EQ(facts.bytes, double(copy->bytes) * (facts.what == "copy" ? 2 : 1)) << facts.what;
      EXPECT_EQ(facts.minSeconds(rates).has_value(), facts.what == "copy") << facts.what;
      copies[facts.what] = facts;
    }
  EXPECT_THAT(copies, IsSupersetOf({Key("copy from device to host"), Key("copy from host to device"),
                                    Key("copy from device to disk"), Key("copy from disk to device")}));
}

TEST_F(MeasurementTest, WaitsForTheDiskAreNoCommunication) {
  use(spacesPlan(), "init");
  const Step &copy = program.steps[5];
  ASSERT_EQ(copy.stream, fb::Stream::Disk);
  Profiler measured = profiler({});
  measured.beginTrainingStep();
  measured.onStep(copy, {0, 1});
  measured.onWait(copy, {2, 5});
  EXPECT_EQ(measured.communication().waited, 0);
  EXPECT_THAT(measured.profile().rows, testing::Contains(testing::Truly([](const ProfileRow &row) {
                return row.what == "wait for the disk" && row.kind == ProfileKind::Move && row.seconds == 3;
              })));
}

/// Runs begin with their first step, and have the times of a schedule; loops' iterations are steps.
TEST_F(MeasurementTest, PredictionsBeginWithEachRun) {
  PlanBuilder builder = fullPlan();
  for (const auto &entry : builder.plan.entries)
    for (const auto &instruction : entry->instructions)
      instruction->predicted_seconds = 0.25F;
  use(builder);
  PredictedRuns runs(*plan);
  runs.reserve(program);
  for (int run = 0; run < 2; ++run) {
    bool isFirst = true;
    for (const Block &block : program.blocks)
      for (uint64_t iteration = 0; iteration < block.iterations; ++iteration)
        for (uint32_t step = block.begin; step < block.end; ++step) {
          const PredictedRuns::Run *begun = runs.begins(program.steps[step]);
          ASSERT_EQ(begun != nullptr, isFirst);
          if (isFirst) {
            EXPECT_DOUBLE_EQ(begun->schedule.seconds, 0.25 * program.entry->instructions()->size());
          }
          isFirst = false;
        }
  }
}

TEST_F(MeasurementTest, APlanWithoutPredictionsHasNoSuchRuns) {
  PredictedRuns runs(*plan);
  EXPECT_TRUE(runs.isEmpty());
  runs.reserve(program);
  EXPECT_EQ(runs.begins(program.steps.front()), nullptr);
}

TEST(FileOfRank, KeepsTheExtension) {
  EXPECT_EQ(fileOfRank("runs/t.json", 0), "runs/t.json");
  EXPECT_EQ(fileOfRank("runs/t.json", 3), "runs/t.rank-3.json");
  EXPECT_EQ(fileOfRank("t", 1), "t.rank-1");
}

} // namespace
} // namespace trainc::test
