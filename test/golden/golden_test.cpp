// The compiler's phases up to `scheduled`, interpreted in float64, against PyTorch's float64 (see README.md).
#include "test/golden/golden_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainc::golden {
namespace {

using testing::Each;
using testing::Le;

class Golden : public testing::TestWithParam<const char *> {};

std::vector<double> magnitudes(std::vector<double> numbers) {
  for (double &number : numbers)
    number = std::abs(number);
  return numbers;
}

TEST_P(Golden, FirstStepsGradients) {
  GoldenRun run(GetParam(), Stage::Gradients);
  run.loadWeights();
  run.step();
  EXPECT_LE(relativeError(run.scalar("loss"), run.golden("loss")), 1e-12);
  ASSERT_EQ(run.memory->gradients.size(), run.goldenNames("grad.").size());
  for (const std::string &name : run.goldenNames("grad.")) {
    SCOPED_TRACE(name);
    auto gradient = run.memory->gradients.find(name);
    ASSERT_NE(gradient, run.memory->gradients.end());
    std::vector<double> actual = gradient->second.reals, expected = run.golden("grad." + name);
    EXPECT_LE(relativeError(withoutKeyBias(name, actual), withoutKeyBias(name, expected)), 1e-10);
    if (hasKeyBias(name))
      EXPECT_THAT(magnitudes(keyBias(actual)), Each(Le(1e-12)));
  }
}

/// Ten steps of one compiled form.
void expectTenSteps(GoldenRun &run, double bound) {
  run.loadWeights();
  std::vector<double> losses, norms;
  for (int step = 0; step < 10; ++step) {
    run.step();
    losses.push_back(run.scalar("loss"));
    norms.push_back(run.scalar("grad_norm"));
    EXPECT_EQ(run.scalar("finite"), 1);
  }
  EXPECT_LE(relativeError(losses, run.golden("losses")), bound);
  EXPECT_LE(relativeError(norms, run.golden("grad_norms")), bound);
  for (const std::string &name : run.goldenNames("final.")) {
    SCOPED_TRACE(name);
    const std::vector<double> &actual = run.memory->states.find(name)->second.reals;
    EXPECT_LE(relativeError(withoutKeyBias(name, actual), withoutKeyBias(name, run.golden("final." + name))),
              bound);
  }
}

TEST_P(Golden, TenSteps) {
  GoldenRun run(GetParam(), Stage::Step);
  expectTenSteps(run, 1e-8);
}

TEST_P(Golden, TenStepsAfterFusion) {
  GoldenRun run(GetParam(), Stage::Scheduled);
  ASSERT_TRUE(run.hasOp("nn.kernel"));
  expectTenSteps(run, 1e-8);
}

TEST_P(Golden, TenStepsInChunks) {
  GoldenRun run(GetParam(), Stage::Chunked);
  ASSERT_TRUE(run.hasOp("nn.chunks"));
  expectTenSteps(run, 1e-8);
}

TEST_P(Golden, InitialWeightsSurviveFusion) {
  GoldenRun step(GetParam(), Stage::Step), scheduled(GetParam(), Stage::Scheduled);
  for (GoldenRun *run : {&step, &scheduled}) {
    run->setScalar("seed", 1234567);
    run->run(EntryKind::init);
  }
  for (const std::string &name : step.goldenNames("final."))
    EXPECT_EQ(step.memory->states.find(name)->second.reals, scheduled.memory->states.find(name)->second.reals)
        << name;
}

TEST_P(Golden, TenStepsWithAccumulation) {
  bool isMlp = std::string(GetParam()) == "mlp";
  // Micro-batches of 8 or 3 samples, with different numbers of ignored targets.
  GoldenRun run(GetParam(), Stage::Step,
                {{"micro_batch", isMlp ? "2" : "1"}, {"accumulate", isMlp ? "4" : "3"}});
  ASSERT_TRUE(run.hasEntry(EntryKind::update));
  expectTenSteps(run, 1e-8);
}

TEST_P(Golden, EvaluationMeasuresTheStepsLoss) {
  GoldenRun run(GetParam(), Stage::Step);
  run.loadWeights();
  run.setColumns(BatchExtent::micro, 0, std::string(GetParam()) == "mlp" ? 8 : 3);
  run.run(EntryKind::eval);
  EXPECT_LE(relativeError(run.scalar("eval_loss") / run.scalar("eval_targets"), run.golden("loss")), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Models, Golden, testing::Values("gpt", "llama", "mlp"),
                         [](const auto &model) { return std::string(model.param); });

/// Parameters after two steps of eight samples.
std::map<std::string, std::vector<double>> parametersAfter(const char *model, int64_t microBatch,
                                                           int64_t accumulate) {
  GoldenRun run(model, Stage::Step,
                {{"micro_batch", std::to_string(microBatch)}, {"accumulate", std::to_string(accumulate)}});
  run.loadWeights();
  run.step();
  run.step();
  std::map<std::string, std::vector<double>> parameters;
  for (const std::string &name : run.goldenNames("final."))
    parameters[name] = withoutKeyBias(name, run.memory->states.find(name)->second.reals);
  return parameters;
}

TEST(Accumulation, FourTimesTwoIsOneTimesEight) {
  for (const char *model : {"gpt", "llama", "mlp"}) {
    auto four = parametersAfter(model, 2, 4), one = parametersAfter(model, 8, 1);
    ASSERT_FALSE(one.empty());
    for (const auto &[name, expected] : one)
      EXPECT_LE(relativeError(four[name], expected), 1e-11) << model << " " << name;
  }
}

/// The logits of the token after `tokens`, from one call of prefill.
std::vector<double> prefill(GoldenRun &run, llvm::ArrayRef<int64_t> tokens) {
  constexpr int64_t context = 16;
  mlir::Type i32 = mlir::IntegerType::get(&run.context, 32);
  reference::Tensor column(mlir::RankedTensorType::get({1, context}, i32));
  llvm::copy(tokens, column.integers.begin());
  run.memory->microColumns.insert_or_assign("tokens", column);
  run.setScalar("position", double(tokens.size() - 1));
  run.run(EntryKind::prefill);
  return run.memory->states.find("logits")->second.reals;
}

/// The logits after one more token at `position`.
std::vector<double> decode(GoldenRun &run, int64_t token, int64_t position) {
  mlir::Type i32 = mlir::IntegerType::get(&run.context, 32);
  reference::Tensor column(mlir::RankedTensorType::get({1, 1}, i32));
  column.integers[0] = token;
  run.memory->microColumns.insert_or_assign("tokens", column);
  run.setScalar("position", double(position));
  run.run(EntryKind::decode);
  return run.memory->states.find("logits")->second.reals;
}

class Generation : public testing::TestWithParam<Stage> {};

TEST_P(Generation, DecodingEqualsPrefillingTheLongerPrompt) {
  const std::vector<int64_t> tokens = {5, 28, 47, 46, 41, 16, 83, 34, 77};
  for (const char *model : {"gpt", "llama"}) {
    GoldenRun stepwise(model, GetParam()), whole(model, Stage::Step);
    stepwise.loadWeights();
    whole.loadWeights();
    prefill(stepwise, llvm::ArrayRef(tokens).take_front(3));
    for (size_t length = 4; length <= tokens.size(); ++length) {
      std::vector<double> expected = prefill(whole, llvm::ArrayRef(tokens).take_front(length));
      std::vector<double> actual = decode(stepwise, tokens[length - 1], int64_t(length) - 1);
      ASSERT_EQ(expected.size(), 96u);
      EXPECT_LE(relativeError(actual, expected), 1e-12) << model << " " << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, Generation, testing::Values(Stage::Step, Stage::Scheduled));

} // namespace
} // namespace trainc::golden
