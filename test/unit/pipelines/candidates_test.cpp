// Candidates are planned as the compiler plans them, and a budget takes the fastest that fits.
#include "lib/Pipelines/CheckpointLevels.h"

#include "dialects/NN/NN.h"
#include "lib/Codegen/Target.h"
#include "lib/Pipelines/Pipeline.h"

#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>

using namespace mlir;

namespace trainc {
namespace {

struct CandidatesTest : testing::Test {
  CandidatesTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    model = parseSourceFile<ModuleOp>(TRAINC_EXAMPLES_DIR "/gpt/small.mlir", &context);
  }

  /// The result of the compiler's own plan.
  CandidatePlan compile(const CompileOptions &options) {
    std::optional<CandidatePlan> plan = tryCompile(options);
    EXPECT_TRUE(plan);
    return plan.value_or(CandidatePlan());
  }
  /// Nothing where the compiler fails.
  std::optional<CandidatePlan> tryCompile(const CompileOptions &options) {
    OwningOpRef<ModuleOp> module = model->clone();
    const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(*module);
    if (failed(runPhases(*module, options)))
      return std::nullopt;
    plan::TrainingOp training = *module->getOps<plan::TrainingOp>().begin();
    return CandidatePlan{memoryReport(*module),
                         predictStep(*module, target->referenceMachine(int64_t(training.getRanks()))),
                         flopsPerStep(*module), sentBytesPerStep(*module)};
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> model;
};

void expectEqual(const CandidatePlan &found, const CandidatePlan &expected) {
  EXPECT_EQ(found.memory.peak, expected.memory.peak);
  EXPECT_EQ(found.memory.activations, expected.memory.activations);
  EXPECT_EQ(found.memory.unplanned, expected.memory.unplanned);
  EXPECT_EQ(found.flops.model, expected.flops.model);
  EXPECT_EQ(found.flops.recomputed, expected.flops.recomputed);
  EXPECT_EQ(found.sentBytes, expected.sentBytes);
  EXPECT_EQ(found.step.total, expected.step.total);
  EXPECT_EQ(found.step.exposed, expected.step.exposed);
}

TEST_F(CandidatesTest, ArePlannedAsTheCompilerPlansThem) {
  const std::vector<train::GivenSetting> many[] = {
      {},
      {{"activation_checkpointing", "selective"}, {"precision", "bf16"}},
      {{"ranks", "2"}, {"zero_stage", "3"}, {"accumulate", "2"}, {"activation_checkpointing", "full"}},
      {{"offload", "optimizer,activations"}, {"activation_checkpointing", "selective"}},
      {{"ranks", "2"}, {"zero_stage", "2"}, {"offload", "optimizer,hidden_activations"}},
  };
  for (const auto &settings : many) {
    CompileOptions options;
    options.settings = settings;
    FailureOr<Candidates> candidates = Candidates::make(*model, options);
    ASSERT_TRUE(succeeded(candidates));
    FailureOr<CandidatePlan> first = candidates->plan();
    ASSERT_TRUE(succeeded(first));
    FailureOr<CandidatePlan> second = candidates->plan(); // nothing is left of the first
    ASSERT_TRUE(succeeded(second));
    expectEqual(*first, compile(options));
    expectEqual(*second, *first);
  }
}

TEST_F(CandidatesTest, FailWhereTheCompilerFails) {
  CompileOptions options;
  options.settings = {{"fp32_products", "tf32"}};
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(Candidates::make(*model, options)));
  EXPECT_NE(message.find("tf32"), std::string::npos) << message;
}

// --- Budgets ---

struct BudgetTest : CandidatesTest {
  /// The plan that a limit gives; none where none fits.
  std::optional<CandidatePlan> planWithin(int64_t limit, std::vector<train::GivenSetting> settings) {
    settings.push_back({"activation_checkpointing", "budget"});
    settings.push_back({"memory_limit", std::to_string(limit)});
    CompileOptions options;
    options.settings = std::move(settings);
    return tryCompile(options);
  }

  /// The least and the most bytes that candidates take.
  std::pair<int64_t, int64_t> range(std::vector<train::GivenSetting> settings) {
    settings.push_back({"activation_checkpointing", "budget"});
    settings.push_back({"memory_limit", "1"}); // not looked at
    CompileOptions options;
    options.settings = std::move(settings);
    FailureOr<Candidates> step = Candidates::make(*model, options);
    EXPECT_TRUE(succeeded(step));
    std::pair<int64_t, int64_t> found = {INT64_MAX, 0};
    for (const CheckpointLevels &levels : checkpointCandidates(step->step()))
      for (const TriedSettings &tried : levels) {
        const int64_t bytes = step->plan(tried)->bytes();
        found = {std::min(found.first, bytes), std::max(found.second, bytes)};
      }
    return found;
  }

  /// Plans for limits from the least to the most that is of use.
  void sweep(const std::vector<train::GivenSetting> &settings, int64_t steps) {
    const auto [least, most] = range(settings);
    ASSERT_LT(least, most);
    double before = std::numeric_limits<double>::infinity();
    int64_t bytesBefore = 0;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t limit = least + (most - least) * i / (steps - 1);
      std::optional<CandidatePlan> plan = planWithin(limit, settings);
      ASSERT_TRUE(plan) << limit;
      EXPECT_LE(plan->bytes(), limit);
      EXPECT_LE(plan->step.total, before) << limit;
      EXPECT_GE(plan->bytes(), bytesBefore) << limit;
      before = plan->step.total;
      bytesBefore = plan->bytes();
    }
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_FALSE(planWithin(least - 1, settings));
    EXPECT_NE(message.find(std::to_string(least)), std::string::npos) << message;
  }
};

TEST_F(BudgetTest, KeepsLimits) { sweep({}, 24); }

TEST_F(BudgetTest, KeepsLimitsOnRanksThatDivideParameters) {
  sweep({{"ranks", "2"}, {"zero_stage", "3"}, {"precision", "bf16"}}, 2);
}

TEST_F(BudgetTest, HasCandidatesThatDoNotDependOnTheLimit) {
  FailureOr<Candidates> step = Candidates::make(*model, {});
  ASSERT_TRUE(succeeded(step));
  const std::vector<CheckpointLevels> candidates = checkpointCandidates(step->step());
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates.front().size(), 16U); // of four uses, of which the last one keeps all
  EXPECT_EQ(candidates.back().size(), 18U);  // of which the last one keeps as much as others
  for (const CheckpointLevels &levels : candidates) {
    EXPECT_EQ(levels.front().front().value, "100");
    EXPECT_EQ(levels.back().front().value, "0");
  }
}

/// Ops that each checkpointing level keeps for `uses` uses of a block.
std::vector<std::string> keptOf(ModuleOp model, int64_t uses, int64_t parts) {
  model->walk([&](nn::RepeatOp blocks) { blocks.setTimes(uses); });
  FailureOr<Candidates> step = Candidates::make(model, {});
  std::vector<std::string> kept;
  for (const TriedSettings &level : checkpointLevels(step->step(), parts))
    kept.push_back(level.front().value);
  return kept;
}

TEST_F(BudgetTest, KeepsLessOfTheFirstUsesFirst) {
  using testing::ElementsAre;
  EXPECT_THAT(keptOf(*model, 1, kCoarseParts), ElementsAre("100", "100", "60", "30", "15", "0"));
  EXPECT_THAT(keptOf(*model, 2, kCoarseParts),
              ElementsAre("100", "100", "60,100", "30,100", "15,100", "0,100", "15", "0"));
  EXPECT_THAT(keptOf(*model, 3, kFineParts),
              ElementsAre("100", "100", "60,100", "2x60,100", "30,60,100", "2x30,100", "15,30,100",
                          "2x15,100", "0,15,100", "2x0,100", "0,60", "2x0,60", "0,30", "2x0,30", "0,15",
                          "2x0,15", "0"));
}

TEST_F(BudgetTest, TakesALevelBetweenCoarseOnes) {
  model->walk([](nn::RepeatOp blocks) { blocks.setTimes(8); });
  CompileOptions options;
  options.settings = {{"activation_checkpointing", "budget"}, {"memory_limit", "1"}}; // not looked at
  FailureOr<Candidates> step = Candidates::make(*model, options);
  ASSERT_TRUE(succeeded(step));
  const CheckpointLevels coarse = checkpointCandidates(step->step()).front(),
                         fine = checkpointCandidates(step->step(), kFineParts).front();
  EXPECT_EQ(coarse.size(), 20U);
  EXPECT_EQ(fine.size(), 37U);
  const TriedSettings &between = fine[17]; // the level before and the next one are coarse
  EXPECT_EQ(between.front().value, "2x15,5x30,100");
  const CandidatePlan expected = *step->plan(between);
  for (const TriedSettings &level : ArrayRef(fine).take_front(17))
    ASSERT_GT(step->plan(level)->bytes(), expected.bytes());
  std::optional<CandidatePlan> found = planWithin(expected.bytes(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes(), expected.bytes());
  EXPECT_EQ(found->step.total, expected.step.total);
}

} // namespace
} // namespace trainc
