#include "runtime/training/train_loop.h"

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/state/checkpoint_reader.h"
#include "runtime/training/observer.h"
#include "runtime/training/state_tensors.h"
#include "test/unit/runtime/device_memory.h"
#include "test/unit/runtime/exec/allocation_counter.h"
#include "test/unit/runtime/training/toy_fixture.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TrainLoopTest : public testing::Test {
protected:
  TrainLoopTest() { writeToyTokens(folder_ / "tokens.bin", 100); }
  ~TrainLoopTest() override { std::fclose(stream_); }

  Dataset data(ToyRun &run, std::string_view file = "tokens.bin") {
    auto dataset = Dataset::open({(folder_ / file).string()},
                                 entryColumns(run.executor(), {"begin_step", "micro_step", "update"}));
    EXPECT_TRUE(dataset.ok()) << dataset.status().message();
    return std::move(*dataset);
  }

  CheckpointWriter checkpoints(ToyRun &run) {
    auto opened = CheckpointFolder::open(folder_ / "checkpoints");
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return {std::move(*opened),
            {stateTensors(run.executor(), fb::Role::Parameter),
             stateTensors(run.executor(), fb::Role::Optimizer),
             {}}};
  }

  /// Trains with metrics; `position_` is where it ends.
  Status train(ToyRun &run, TrainOptions options, std::optional<CheckpointWriter> writer = std::nullopt,
               Evaluator *evaluator = nullptr) {
    const Dataset dataset = data(run);
    ConsoleObserver console(log_);
    MetricsObserver metrics(folder_ / "metrics.jsonl", log_);
    const Observers observers({&console, &metrics});
    EXPECT_TRUE(
        observers
            .tell(&RunObserver::onBegin,
                  RunBegin{.trains = true, .step = position_.step, .lastStep = options.steps, .unit = "tok"})
            .ok());
    std::optional<Checkpoints> checkpoints;
    if (writer)
      checkpoints.emplace(run.executor(), std::move(*writer), position_.step, observers);
    TrainLoop loop({.executor = run.executor(),
                    .dataset = dataset,
                    .observers = observers,
                    .checkpoints = checkpoints ? &*checkpoints : nullptr,
                    .evaluator = evaluator,
                    .stopRequested = stopRequested_,
                    .secondsSinceStart = [] { return 0.25; }},
                   options, position_);
    const Status status = loop.run();
    position_ = loop.position();
    return status;
  }

  std::vector<nlohmann::json> metrics() const {
    std::ifstream file(folder_ / "metrics.jsonl");
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);)
      lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  std::string logged() {
    std::fflush(stream_);
    std::fseek(stream_, 0, SEEK_SET);
    std::string text(1 << 16, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), stream_));
    return text;
  }

  TempFolder folder_;
  std::FILE *stream_ = std::tmpfile();
  Log log_{stream_, LogLevel::kInfo};
  TrainerState position_;
  std::function<bool()> stopRequested_;
};

TEST_F(TrainLoopTest, LearnsAndReports) {
  ToyRun run;
  const Status status = train(run, {.steps = 60, .peakFlops = 1e9});
  ASSERT_TRUE(status.ok()) << status.message();
  const auto lines = metrics();
  ASSERT_EQ(lines.size(), 60U);
  EXPECT_GT(lines[0]["loss"].get<double>(), 2);
  EXPECT_LT(lines[59]["loss"].get<double>(), 1);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["step"], i + 1);
    EXPECT_EQ(lines[i]["lr"], 0.5);
    EXPECT_EQ(lines[i]["tokens"], 64);
    EXPECT_EQ(lines[i]["peak_bytes"], run.executor().peakBytes());
    EXPECT_GT(lines[i]["grad_norm"].get<double>(), 0);
    const double seconds = lines[i]["step_seconds"].get<double>();
    EXPECT_DOUBLE_EQ(lines[i]["tokens_per_second"].get<double>(), 64 / seconds);
    EXPECT_DOUBLE_EQ(lines[i]["mfu"].get<double>(), 2000 / seconds / 1e9);
    EXPECT_EQ(lines[i].contains("start_seconds"), i == 0);
  }
  EXPECT_EQ(position_.samples, 480U);
  EXPECT_EQ(position_.tokens, 3840U);
  EXPECT_THAT(logged(), AllOf(HasSubstr("step 1/60  loss 2."), HasSubstr("step 60/60  loss 0.")));
}

TEST_F(TrainLoopTest, ResumedEqualsUninterrupted) {
  ToyRun whole(3);
  position_.seed = 3;
  ASSERT_TRUE(train(whole, {.steps = 20}).ok());

  ToyRun first(3);
  position_ = {};
  position_.seed = 3;
  {
    ASSERT_TRUE(train(first, {.steps = 13, .checkpointEvery = 5}, checkpoints(first)).ok());
  }
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(5, 10, 13));

  ToyRun second(99, 2);
  const auto checkpoint = Checkpoint::open(folder_ / "checkpoints/step-00000010");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  ASSERT_TRUE(checkpoint->loadParameters(stateTensors(second.executor(), fb::Role::Parameter), 1).ok());
  ASSERT_TRUE(checkpoint->loadOptimizer(stateTensors(second.executor(), fb::Role::Optimizer), 1).ok());
  position_ = checkpoint->state();
  EXPECT_EQ(position_.samples, 80U);
  ASSERT_TRUE(train(second, {.steps = 20}).ok());
  for (const StateView &state : whole.executor().states())
    EXPECT_EQ(HostCopy<std::byte>(whole.executor().device(), state.memory),
              HostCopy<std::byte>(second.executor().device(),
                                  stateOf(second.executor(), state.info->name()->str()).memory))
        << state.info->name()->str();
}

TEST_F(TrainLoopTest, StopsAfterTheStepWithACheckpoint) {
  ToyRun run;
  stopRequested_ = [&, asked = 0]() mutable { return ++asked == 8; };
  ASSERT_TRUE(train(run, {.steps = 20}, checkpoints(run)).ok());
  EXPECT_EQ(position_.step, 7U);
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(7));
}

TEST_F(TrainLoopTest, AStopEndsAnEvaluation) {
  ToyRun run;
  const auto dataset =
      Dataset::open({(folder_ / "tokens.bin").string()}, entryColumns(run.executor(), {"eval"}));
  auto evaluator = Evaluator::create(run.executor(), *dataset);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  // Before the step, then before each of the 25 batches.
  stopRequested_ = [asked = 0]() mutable { return ++asked == 4; };
  ASSERT_TRUE(train(run, {.steps = 20, .evalEvery = 1}, checkpoints(run), &*evaluator).ok());
  EXPECT_EQ(position_.step, 1U);
  EXPECT_EQ(metrics().size(), 1U) << "the step's alone";
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(1));
}

TEST_F(TrainLoopTest, AFailedEvaluationLosesNoTraining) {
  ToyRun run;
  const auto column = [](const char *name, int32_t value) {
    return OwnedTensor(name, fb::DType::I32, {4, kToyLength}, std::vector<int32_t>(4 * kToyLength, value));
  };
  ASSERT_TRUE(
      saveTensors(folder_ / "ignored.safetensors", {column("tokens", 1), column("labels", -100)}).ok());
  const auto dataset =
      Dataset::open({(folder_ / "ignored.safetensors").string()}, entryColumns(run.executor(), {"eval"}));
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  auto evaluator = Evaluator::create(run.executor(), *dataset);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  const Status status = train(run, {.steps = 20, .evalEvery = 4}, checkpoints(run), &*evaluator);
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_EQ(status.message(),
            "after step 4: evaluation: all targets of the 4 samples are ignored, so there is no mean loss");
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(4));
}

TEST_F(TrainLoopTest, EvaluationDataIsCheckedBeforeTraining) {
  std::string text = readFile(folder_ / "tokens.bin");
  text[1200] = 16; // of the last batches
  writeFile(folder_ / "eval.bin", text);
  ToyRun run;
  const auto dataset =
      Dataset::open({(folder_ / "eval.bin").string()}, entryColumns(run.executor(), {"eval"}));
  const Status status = Evaluator::create(run.executor(), *dataset).status();
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(), HasSubstr("eval.bin: byte 1200: "));
}

TEST_F(TrainLoopTest, EvaluatesEveryFewStepsAndAtTheEnd) {
  ToyRun run;
  writeToyTokens(folder_ / "eval.bin", 10);
  const auto dataset =
      Dataset::open({(folder_ / "eval.bin").string()}, entryColumns(run.executor(), {"eval"}));
  ASSERT_TRUE(dataset.ok());
  auto evaluator = Evaluator::create(run.executor(), *dataset);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  ASSERT_TRUE(train(run, {.steps = 10, .evalEvery = 4}, std::nullopt, &*evaluator).ok());
  std::vector<uint64_t> steps;
  for (const auto &line : metrics())
    if (line.contains("eval_loss")) {
      steps.push_back(line["step"]);
      EXPECT_DOUBLE_EQ(line["perplexity"].get<double>(), std::exp(line["eval_loss"].get<double>()));
      EXPECT_EQ(line["eval_samples"], 10);
    }
  EXPECT_THAT(steps, testing::ElementsAre(4, 8, 10));
  EXPECT_THAT(logged(), testing::ContainsRegex("step 4: evaluation loss [0-9.]+, perplexity [0-9.]+ \\("));
}

TEST_F(TrainLoopTest, OnlyALikelihoodHasAPerplexity) {
  PlanBuilder builder = toyPlan();
  builder.plan.training->likelihood = false;
  ToyRun run(1, 1, builder);
  const auto dataset =
      Dataset::open({(folder_ / "tokens.bin").string()}, entryColumns(run.executor(), {"eval"}));
  ASSERT_TRUE(dataset.ok());
  auto evaluator = Evaluator::create(run.executor(), *dataset);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  ASSERT_TRUE(train(run, {.steps = 1}, std::nullopt, &*evaluator).ok());
  EXPECT_TRUE(metrics().back().at("perplexity").is_null());
  EXPECT_THAT(logged(), testing::ContainsRegex("step 1: evaluation loss [0-9.]+ \\("));
}

TEST_F(TrainLoopTest, IncompleteEvaluationBatchesCountOnlyTheirSamples) {
  ToyRun run;
  writeToyTokens(folder_ / "eval.bin", 6);
  const auto dataset =
      Dataset::open({(folder_ / "eval.bin").string()}, entryColumns(run.executor(), {"eval"}));
  ASSERT_TRUE(dataset.ok());
  auto evaluator = Evaluator::create(run.executor(), *dataset);
  const auto evaluated = evaluator->run();
  ASSERT_TRUE(evaluated.ok());
  const std::optional<EvalResult> &result = *evaluated;
  EXPECT_EQ(result->targets, 48);
  const HostCopy<float> weights = run.weights();
  double expected = 0; // of the 48 pairs of neighbours, from the weights
  for (int i = 0, token = 1; i < 48; ++i, token = (3 * token + 1) % 16) {
    double sum = 0;
    for (int j = 0; j < 16; ++j)
      sum += std::exp(static_cast<double>(weights[token * 16 + j]));
    expected += std::log(sum) - weights[token * 16 + (3 * token + 1) % 16];
  }
  EXPECT_NEAR(result->loss, expected / 48, 1e-5);
}

/// Gives the target of token 5, class 0, a loss that no f32 holds.
void makeOverflow(ToyRun &run) {
  run.weights()[5 * 16] = -3e38F;
  run.weights()[5 * 16 + 1] = 3e38F;
}

TEST_F(TrainLoopTest, AParameterThatIsNotFiniteIsNamed) {
  ToyRun run;
  run.weights()[5 * 16] = std::numeric_limits<float>::quiet_NaN();
  const Status status = train(run, {.steps = 20});
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("step 1: the loss is nan"),
                    HasSubstr("parameter 'wte.weight' holds nan in element 80; look at its initialiser"),
                    testing::Not(HasSubstr("Replayed"))));
}

TEST_F(TrainLoopTest, NonFiniteStepChangesNothingAndIsNamed) {
  ToyRun run;
  makeOverflow(run);
  const std::vector<float> before = run.weights();
  const Status status = train(run, {.steps = 20});
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("step 1: the loss is inf"), HasSubstr("update was not applied"),
                    HasSubstr("loss: nn.cross_entropy"), HasSubstr("micro_step"),
                    HasSubstr("--on-nonfinite=skip")));
  EXPECT_EQ(0, std::memcmp(before.data(), run.weights().data(), before.size() * sizeof(float)));
  EXPECT_EQ(metrics().size(), 1U);
  EXPECT_TRUE(metrics()[0]["loss"].is_null());
}

TEST_F(TrainLoopTest, AdviceOnANonFiniteStepKnowsThePlansTypes) {
  const auto adviceFor = [&](const char *report) {
    PlanBuilder builder = toyPlan();
    builder.plan.report = report;
    ToyRun run(1, 1, builder);
    makeOverflow(run);
    const std::string message = train(run, {.steps = 1}).message();
    return message.substr(message.rfind('\n') + 1);
  };
  const std::string plain =
      "As the gradient is finite, a target may be in a class that the model excludes with -inf. Lower the "
      "learning rate or look at the data of this step; --on-nonfinite=skip";
  EXPECT_THAT(adviceFor(R"({"settings": [{"setting": "precision", "value": "fp16"}]})"),
              HasSubstr("a lower --loss-scale or --precision=bf16 may help; --on"));
  EXPECT_THAT(adviceFor(R"({"settings": [3, {}, {"setting": "reduce_type", "value": "f16"}]})"),
              HasSubstr("gradients are sent in f16, so --reduce-type=bf16 may help; --on"));
  for (const char *odd :
       {"", R"({"settings": 1})", R"({"settings": [{"setting": "precision", "value": 16}]})"})
    EXPECT_THAT(adviceFor(odd), HasSubstr(plain));
}

TEST_F(TrainLoopTest, WeightsThatAreNotFiniteAreNotSaved) {
  const auto message = [&](uint64_t steps, bool breaks) {
    ToyRun run;
    if (breaks) { // the first update is finite, but adds to infinity
      const DeviceSpan momentum = stateOf(run.executor(), "exp_avg.wte.weight").memory;
      HostCopy<float> values(run.executor().device(), momentum);
      std::ranges::fill(values, -3e38F);
      run.weights()[7] = 3e38F;
    }
    const Status status = train(run, {.steps = position_.step + steps}, checkpoints(run));
    return status.ok() ? "" : status.message();
  };
  ASSERT_EQ(message(3, false), "");
  ASSERT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(3));
  const std::string broken = message(1, true);
  EXPECT_THAT(broken, HasSubstr("the checkpoint of step 4 was not written (the last one is that of step 3): "
                                "parameter 'wte.weight' holds inf in element 7, from the last update"));
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(3));
}

TEST_F(TrainLoopTest, TheStepBeforeANonFiniteOneIsSaved) {
  PlanBuilder builder = toyPlan();
  builder.plan.training->schedule->peak = 1.5;
  const auto accelerate =
      [](ToyRun &run) { // differences of weights overflow after a few steps, weights do not
        const DeviceSpan momentum = stateOf(run.executor(), "exp_avg.wte.weight").memory;
        HostCopy<float> values(run.executor().device(), momentum);
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = i % 2 == 0 ? 2e38F : -2e38F;
      };
  ToyRun diverging(1, 1, builder);
  accelerate(diverging);
  {
    ASSERT_EQ(train(diverging, {.steps = 1000}, checkpoints(diverging)).exitCode(), 1);
  }
  const uint64_t good = metrics().size() - 1;
  ASSERT_GT(good, 1U);
  EXPECT_EQ(position_.step, good);
  ASSERT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(good));

  ToyRun same(1, 1, builder);
  accelerate(same);
  position_ = {};
  ASSERT_TRUE(train(same, {.steps = good}).ok());
  ToyRun resumed(2);
  const auto checkpoint = Checkpoint::open(folder_ / "checkpoints" / checkpointName(good));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->state().samples, good * kToyMicroBatch * kToyAccumulate);
  const auto file = checkpoint->openParameters();
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::vector<float> weights = same.weights();
  const std::span<const std::byte> saved = file->find("wte.weight")->bytes;
  ASSERT_EQ(saved.size(), weights.size() * sizeof(float));
  EXPECT_EQ(0, std::memcmp(saved.data(), weights.data(), saved.size()));
  EXPECT_TRUE(checkpoint->loadParameters(stateTensors(resumed.executor(), fb::Role::Parameter), 1).ok());
}

TEST_F(TrainLoopTest, NonFiniteStepsCanBeSkipped) {
  ToyRun run;
  run.weights()[5 * 16] = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(train(run, {.steps = 3, .skipNonFinite = true}).ok());
  EXPECT_EQ(position_.step, 3U);
  EXPECT_THAT(logged(), HasSubstr("warning: step 2: the loss is"));
}

TEST_F(TrainLoopTest, AFullDiskThatIsEmptiedInTimeDoesNotEndTheRun) {
  ToyRun run;
  std::optional<FullDisk> full(1000);
  stopRequested_ = [&, asked = 0]() mutable {
    if (++asked == 7)
      full.reset();
    return false;
  };
  ASSERT_TRUE(train(run, {.steps = 8, .checkpointEvery = 4}, checkpoints(run)).ok());
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(8));
  EXPECT_THAT(logged(), AllOf(HasSubstr("warning: the checkpoint of step 4 was not written"),
                              HasSubstr("cannot write: File too large; no more metrics are written")));
}

TEST_F(TrainLoopTest, TheLastCheckpointMustBeWritten) {
  ToyRun run;
  const FullDisk full(1000);
  const Status status = train(run, {.steps = 8}, checkpoints(run));
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(), HasSubstr("the checkpoint of step 8 was not written"));
}

TEST_F(TrainLoopTest, NothingToTrain) {
  ToyRun run;
  position_.step = 5;
  ASSERT_TRUE(train(run, {.steps = 2}).ok());
  EXPECT_TRUE(metrics().empty());
  EXPECT_THAT(logged(), HasSubstr("nothing is left to train: step 5 is done, and the training ends with "
                                  "step 2; give --steps a number above 5 to go on"));
}

TEST_F(TrainLoopTest, DamagedDataIsNamed) {
  std::string text = readFile(folder_ / "tokens.bin");
  text[200] = 16;
  writeFile(folder_ / "tokens.bin", text);
  ToyRun run;
  const Status status = train(run, {.steps = 40}, checkpoints(run));
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("tokens.bin"), HasSubstr("200"), HasSubstr("16")));
  ASSERT_GT(position_.step, 0U) << "the seed takes the damaged sample first";
  EXPECT_THAT(listCheckpoints(folder_ / "checkpoints"), testing::ElementsAre(position_.step));
}

TEST_F(TrainLoopTest, StepsDoNotAllocate) {
  ToyRun run;
  if (!dynamic_cast<CpuDevice *>(&run.executor().device()))
    GTEST_SKIP() << "an asynchronous device keeps what waits";
  const Dataset dataset = data(run);
  Loader loader(dataset, SampleOrder::shuffled(dataset.samples(), 1),
                {.microBatch = kToyMicroBatch, .accumulate = kToyAccumulate});
  StepRunner runner(run.executor(), dataset);
  auto metrics = MetricsWriter::open(folder_ / "metrics.jsonl", std::nullopt);
  uint64_t step = 0;
  const auto runStep = [&] {
    const auto batch = loader.next(step);
    ASSERT_TRUE(batch.ok());
    const auto result = runner.run({1, step, 0.1F}, *batch);
    ASSERT_TRUE(result.ok());
    ASSERT_TRUE(metrics->write(StepMetrics{.step = ++step, .loss = result->loss}).ok());
  };
  runStep();
  EXPECT_EQ(countAllocations([&] {
              for (int i = 0; i < 10; ++i)
                runStep();
            }),
            0U);
}

} // namespace
} // namespace trainc::test
