// Strategies are evaluated as the compiler plans them, and a budget takes the fastest level that fits.
#include "lib/Pipelines/PhaseEvaluator.h"

#include "dialects/Dist/Dist.h"
#include "dialects/NN/NN.h"
#include "lib/Codegen/Target.h"
#include "lib/Pipelines/CheckpointLevels.h"
#include "lib/Pipelines/Pipeline.h"
#include "lib/Pipelines/Report.h"

#include "mlir/Parser/Parser.h"
#include <gmock/gmock.h>

using namespace mlir;

namespace trainc {
namespace {

struct EvaluatorTest : testing::Test {
  EvaluatorTest() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    model = parseSourceFile<ModuleOp>(TRAINC_EXAMPLES_DIR "/gpt/small.mlir", &context);
  }

  /// The result of the compiler's own plan.
  Evaluation compile(const CompileOptions &options) {
    std::optional<Evaluation> plan = tryCompile(options);
    EXPECT_TRUE(plan);
    return plan.value_or(Evaluation());
  }
  /// Nothing where the compiler fails.
  std::optional<Evaluation> tryCompile(const CompileOptions &options) {
    OwningOpRef<ModuleOp> module = model->clone();
    const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(*module);
    if (failed(runPhases(*module, options)))
      return std::nullopt;
    return evaluationOf(*module, target->referenceMachine(dist::meshOf(*module).ranks()));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> model;
};

CompileOptions with(const Settings &settings) {
  CompileOptions options;
  options.settings = settings;
  return options;
}

/// A step that was evaluated.
struct EvaluatedStep {
  EvaluatedStep(ModuleOp model, const Settings &settings)
      : settings(settings), evaluator(model, {}, /*cachesSchedules=*/false) {}

  ModuleOp module() { return *evaluator.step(settings); }
  Evaluation evaluate(const Settings &level) {
    Settings all = settings;
    all.push_back({"activation_checkpointing", "full"});
    for (const train::GivenSetting &each : level)
      all.push_back(each);
    return evaluator.evaluate(all)->front();
  }

  Settings settings;
  PhaseEvaluator evaluator;
};

void expectEqual(const Evaluation &found, const Evaluation &expected) {
  EXPECT_EQ(found.memory.peak, expected.memory.peak);
  EXPECT_EQ(found.memory.activations, expected.memory.activations);
  EXPECT_EQ(found.memory.unplanned, expected.memory.unplanned);
  EXPECT_EQ(found.flops.model, expected.flops.model);
  EXPECT_EQ(found.flops.recomputed, expected.flops.recomputed);
  EXPECT_EQ(found.sentBytes, expected.sentBytes);
  EXPECT_EQ(found.step.total, expected.step.total);
  EXPECT_EQ(found.step.exposed, expected.step.exposed);
}

TEST_F(EvaluatorTest, EvaluatesStrategiesAsTheCompilerPlansThem) {
  const Settings many[] = {
      {},
      {{"activation_checkpointing", "selective"}, {"precision", "bf16"}},
      {{"ranks", "2"}, {"zero_stage", "3"}, {"accumulate", "2"}, {"activation_checkpointing", "full"}},
      {{"offload", "optimizer,activations"}, {"activation_checkpointing", "selective"}},
      {{"ranks", "2"}, {"zero_stage", "2"}, {"offload", "optimizer,hidden_activations"}},
  };
  for (const auto &settings : many) {
    const CompileOptions options = with(settings);
    PhaseEvaluator evaluator(*model, {}, /*cachesSchedules=*/true);
    FailureOr<std::vector<Evaluation>> first = evaluator.evaluate(settings);
    ASSERT_TRUE(succeeded(first));
    FailureOr<std::vector<Evaluation>> second = evaluator.evaluate(settings); // nothing is left of the first
    ASSERT_TRUE(succeeded(second));
    expectEqual(first->front(), compile(options));
    expectEqual(second->front(), first->front());
  }
}

/// Its micro-steps have no blocks, and recomputation changes them all the same.
TEST_F(EvaluatorTest, CachesRecomputationOfAModelWithoutBlocks) {
  model = parseSourceFile<ModuleOp>(TRAINC_EXAMPLES_DIR "/mlp/mlp.mlir", &context);
  const Settings split = {{"micro_batch", "1"}, {"accumulate", "64"}, {"offload", "optimizer"}};
  std::vector<Settings> strategies;
  for (const char *level : {"none", "selective"}) {
    strategies.push_back(split);
    strategies.back().push_back({"activation_checkpointing", level});
  }
  PhaseEvaluator evaluator(*model, {}, /*cachesSchedules=*/true);
  FailureOr<std::vector<Evaluation>> plans = evaluator.evaluate(strategies);
  ASSERT_TRUE(succeeded(plans));
  EXPECT_NE(plans->front().step.total, plans->back().step.total);
  for (auto [plan, settings] : llvm::zip_equal(*plans, strategies))
    expectEqual(plan, compile(with(settings)));
}

TEST_F(EvaluatorTest, FailsWhereTheCompilerFails) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  PhaseEvaluator evaluator(*model, {}, /*cachesSchedules=*/false);
  EXPECT_TRUE(failed(evaluator.evaluate(Settings{{"fp32_products", "tf32"}})));
  EXPECT_NE(message.find("tf32"), std::string::npos) << message;
}

/// The target warns about the workspace of attention's gradient when the compiler plans the same settings.
TEST_F(EvaluatorTest, LeavesWarningsToTheCompiler) {
  const Settings settings = {
      {"target", "cuda"}, {"precision", "bf16"}, {"micro_batch", "65536"}, {"gpu", "h100-sxm"}};
  int warnings = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    warnings += diagnostic.getSeverity() == DiagnosticSeverity::Warning ? 1 : 0;
    return success();
  });
  {
    PhaseEvaluator evaluator(*model, {}, /*cachesSchedules=*/true);
    ASSERT_TRUE(succeeded(evaluator.evaluate(settings)));
    ASSERT_TRUE(succeeded(evaluator.lowerBoundBytes(settings)));
  }
  EXPECT_EQ(warnings, 0);
  compile(with(settings));
  EXPECT_GT(warnings, 0);
}

// --- Budgets ---

struct BudgetTest : EvaluatorTest {
  /// The plan that a limit gives; none where none fits.
  std::optional<Evaluation> planWithin(int64_t limit, Settings settings) {
    settings.push_back({"activation_checkpointing", "budget"});
    settings.push_back({"memory_limit", std::to_string(limit)});
    return tryCompile(with(settings));
  }

  /// The least and the most bytes that candidates take.
  std::pair<int64_t, int64_t> range(Settings settings) {
    settings.push_back({"memory_limit", "1"}); // not looked at
    EvaluatedStep step(*model, settings);
    std::pair<int64_t, int64_t> found = {INT64_MAX, 0};
    for (const CheckpointLevels &levels : checkpointCandidates(step.module()))
      for (const Settings &level : levels) {
        const int64_t bytes = step.evaluate(level).bytes();
        found = {std::min(found.first, bytes), std::max(found.second, bytes)};
      }
    return found;
  }

  /// Plans for limits from the least to the most that is of use.
  void sweep(const Settings &settings, int64_t steps) {
    const auto [minimum, maximum] = range(settings);
    ASSERT_LT(minimum, maximum);
    double before = std::numeric_limits<double>::infinity();
    int64_t bytesBefore = 0;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t limit = minimum + (maximum - minimum) * i / (steps - 1);
      std::optional<Evaluation> plan = planWithin(limit, settings);
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
    EXPECT_FALSE(planWithin(minimum - 1, settings));
    EXPECT_NE(message.find(std::to_string(minimum)), std::string::npos) << message;
  }
};

TEST_F(BudgetTest, KeepsLimits) { sweep({}, 12); }

TEST_F(BudgetTest, KeepsLimitsOnRanksThatDivideParameters) {
  sweep({{"ranks", "2"}, {"zero_stage", "3"}, {"precision", "bf16"}}, 2);
}

TEST_F(BudgetTest, HasCandidatesThatDoNotDependOnTheLimit) {
  EvaluatedStep step(*model, {});
  const std::vector<CheckpointLevels> candidates = checkpointCandidates(step.module());
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates.front().size(), 16U); // of four uses, of which the last one keeps all
  EXPECT_EQ(candidates.back().size(), 18U);  // of which the last one keeps as much as others
  for (const CheckpointLevels &levels : candidates) {
    EXPECT_EQ(levels.front().front().value, "100");
    EXPECT_EQ(levels.back().front().value, "0");
  }
}

/// Repeats the block of `model` another number of times. Its config.json, which states the number, is left
/// out.
void setUses(ModuleOp model, int64_t uses) {
  model->walk([&](nn::RepeatOp blocks) { blocks.setTimes(uses); });
  model->walk([](nn::ModelOp each) { each.removeExportsAttr(); });
}

/// Ops that each checkpointing level keeps for `uses` uses of a block.
std::vector<std::string> keptOf(ModuleOp model, int64_t uses, int64_t parts) {
  setUses(model, uses);
  EvaluatedStep step(model, {});
  std::vector<std::string> kept;
  for (const Settings &level : checkpointLevels(step.module(), parts))
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
  setUses(*model, 8);
  EvaluatedStep step(*model, {{"memory_limit", "1"}}); // not looked at
  const CheckpointLevels coarse = checkpointCandidates(step.module()).front(),
                         fine = checkpointCandidates(step.module(), kFineParts).front();
  EXPECT_EQ(coarse.size(), 20U);
  EXPECT_EQ(fine.size(), 37U);
  const Settings &between = fine[17]; // the level before and the next one are coarse
  EXPECT_EQ(between.front().value, "2x15,5x30,100");
  const Evaluation expected = step.evaluate(between);
  for (const Settings &level : ArrayRef(fine).take_front(17))
    ASSERT_GT(step.evaluate(level).bytes(), expected.bytes());
  std::optional<Evaluation> found = planWithin(expected.bytes(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes(), expected.bytes());
  EXPECT_EQ(found->step.total, expected.step.total);
}

} // namespace
} // namespace trainc
