// Profiles by numbers that a test tells: idle time, rooflines, rows that are merged.
#include "runtime/exec/measurement.h"

#include "test/unit/runtime/plans/plan_builder.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::DoubleEq;
using testing::Optional;

class MeasurementTest : public testing::Test {
protected:
  void SetUp() override {
    const auto read = bytes.read();
    ASSERT_TRUE(read.ok()) << read.status().message();
    plan = *read;
    const std::vector<DeviceAddress> buffers(plan->buffers()->size());
    for (const fb::Entry *entry : *plan->entries())
      if (entry->name()->str() == "micro_step")
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

  PlanBytes bytes{fullPlan().payload()};
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

TEST_F(MeasurementTest, ARooflineIsTheSlowerOfTwoRates) {
  const StepFacts facts = factsOf(*plan, product());
  ASSERT_GT(facts.flops, 0);
  ASSERT_GT(facts.bytes, 0);
  // Half a second of flops, a quarter of bytes; what the clock says counts where nothing was measured.
  DeviceRates rates;
  rates.memoryBytes = 4 * facts.bytes;
  rates.f32Flops = 2 * facts.flops;
  rates.halfFlops = 1;
  EXPECT_THAT(facts.leastSeconds(rates), Optional(DoubleEq(0.5)));
  rates.copiedBytes = facts.bytes;
  EXPECT_THAT(facts.leastSeconds(rates), Optional(DoubleEq(1)));
  rates.f32Flops = 0;
  EXPECT_EQ(facts.leastSeconds(rates), std::nullopt) << "of a product, bytes alone say nothing";
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
  PlanBytes changed(builder.payload());
  plan = fb::GetPlan(changed.payload().data());
  EXPECT_EQ(factsOf(*plan, product()).flopsRate, &DeviceRates::halfFlops);
}

TEST(FileOfRank, KeepsTheExtension) {
  EXPECT_EQ(fileOfRank("runs/t.json", 0), "runs/t.json");
  EXPECT_EQ(fileOfRank("runs/t.json", 3), "runs/t.rank-3.json");
  EXPECT_EQ(fileOfRank("t", 1), "t.rank-1");
}

} // namespace
} // namespace trainc::test
