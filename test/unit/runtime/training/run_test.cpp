// A training by a program that has runtime/training alone: no command line, no log, no process of its own.
#include "runtime/training/run.h"

#include "runtime/data/formats/token_file.h"
#include "runtime/training/run_data.h"
#include "test/unit/runtime/faulty_device.h"
#include "test/unit/runtime/rank_threads.h"
#include "test/unit/runtime/training/toy_fixture.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Keeps all that a run tells.
class Watcher : public RunObserver {
public:
  Status onBegin(const RunBegin &begin) override {
    begins.push_back(begin);
    return refusal;
  }
  void onStep(const StepMetrics &metrics) override { losses.push_back(metrics.loss); }
  void onEvaluation(const EvalMetrics &metrics) override { evaluations.push_back(metrics); }
  void onCheckpoint(const std::filesystem::path &folder) override {
    checkpoints.push_back(folder.filename().string());
  }
  void onEnd() override { ++ends; }
  Status onText(std::string_view piece) override {
    text += piece;
    return {};
  }
  void onNote(std::string_view note) override { notes.emplace_back(note); }
  void onWarning(std::string_view warning) override { warnings.emplace_back(warning); }
  void onFailure(const Status &status) override { failures.push_back(status.message()); }

  Status refusal; ///< the answer to onBegin()
  std::vector<RunBegin> begins;
  std::vector<float> losses;
  std::vector<EvalMetrics> evaluations;
  std::vector<std::string> checkpoints, notes, warnings, failures;
  std::string text;
  int ends = 0;
};

class TrainingRunTest : public testing::Test {
protected:
  TrainingRunTest() {
    writeToyTokens(folder_ / "tokens.bin", 100);
    options_.plan = (folder_ / "toy.plan").string();
    options_.data = {(folder_ / "tokens.bin").string()};
    EXPECT_TRUE(writePlanFile(options_.plan, toyForTestDevice().payload()).ok());
  }

  /// An embedding program; `watcher_` records what it is told.
  Status train() { return train(*testDevice()); }
  Status train(Device &device) {
    auto file = PlanFile::open(options_.plan);
    EXPECT_TRUE(file.ok()) << file.status().message();
    watcher_ = Watcher();
    watcher_.refusal = refusal_;
    auto run = TrainingRun::create(*file, device, options_, {.observers = {&watcher_}, .stop = stop_});
    TRAINC_RETURN_IF_ERROR(run.status());
    return (*run)->run();
  }

  TempFolder folder_;
  RunOptions options_;
  StopRequests stop_;
  Status refusal_;
  Watcher watcher_;
};

TEST_F(TrainingRunTest, TellsOfStepsEvaluationsAndCheckpoints) {
  options_.steps = 20;
  options_.evalData = options_.data;
  options_.evalEvery = 15;
  options_.checkpointDir = (folder_ / "checkpoints").string();
  options_.checkpointEvery = 10;
  const Status status = train();
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(watcher_.begins.size(), 1U);
  EXPECT_EQ(watcher_.begins[0].lastStep, 20U);
  EXPECT_EQ(watcher_.begins[0].unit, "tok");
  ASSERT_EQ(watcher_.losses.size(), 20U);
  EXPECT_LT(watcher_.losses.back(), watcher_.losses.front() - 0.5F);
  ASSERT_EQ(watcher_.evaluations.size(), 2U);
  EXPECT_EQ(watcher_.evaluations[0].step, 15U);
  EXPECT_LT(watcher_.evaluations[1].loss, watcher_.evaluations[0].loss);
  EXPECT_THAT(watcher_.checkpoints, ElementsAre("step-00000010", "step-00000020"));
  EXPECT_EQ(watcher_.ends, 1);
  EXPECT_THAT(watcher_.notes, ElementsAre("data: 100 samples in 1 file; steps 1 to 20"));
  EXPECT_THAT(watcher_.warnings, IsEmpty());
  EXPECT_THAT(watcher_.failures, IsEmpty());
}

/// Whichever copy is lost, no invalid number is reported.
TEST_F(TrainingRunTest, ADeviceThatFailsEndsTheRun) {
  options_.steps = 3;
  options_.evalData = options_.data;
  uint64_t reads = 0;
  for (bool fails = true; fails; ++reads) {
    FaultyDevice device;
    device.goodReads = reads;
    const Status status = train(device);
    fails = !status.ok();
    if (!fails)
      break;
    EXPECT_THAT(status.message(), HasSubstr("the device has lost a copy")) << "after " << reads;
    EXPECT_EQ(status.exitCode(), 1);
    EXPECT_THAT(status.message(), HasSubstr(watcher_.losses.size() < 3 ? "step " : "after step 3: "));
    EXPECT_THAT(watcher_.losses, testing::Each(testing::Truly([](float loss) { return loss > 0; })));
    EXPECT_THAT(watcher_.evaluations, IsEmpty());
  }
  EXPECT_GT(reads, 8U);
}

TEST_F(TrainingRunTest, ADeviceThatLosesStatesWritesNoCheckpointAndReadsNone) {
  options_.steps = 2;
  options_.checkpointDir = (folder_ / "checkpoints").string();
  FaultyDevice device;
  device.losesCopiesBeside = true;
  EXPECT_THAT(train(device).message(), HasSubstr("copying 'wte.weight': the device has lost a copy"));
  EXPECT_THAT(watcher_.checkpoints, IsEmpty());

  ASSERT_TRUE(train().ok());
  EXPECT_THAT(watcher_.checkpoints, ElementsAre("step-00000002"));
  options_.steps = 3;
  options_.resume = "latest";
  FaultyDevice other;
  other.losesCopiesBeside = true;
  EXPECT_THAT(train(other).message(), HasSubstr("': the device has lost a copy"));
  EXPECT_THAT(watcher_.losses, IsEmpty());
}

TEST_F(TrainingRunTest, GoesOnWhereItStopped) {
  options_.steps = 20;
  ASSERT_TRUE(train().ok());
  const std::vector<float> whole = watcher_.losses;

  options_.checkpointDir = (folder_ / "checkpoints").string();
  stop_.reason = [asked = 0]() mutable { return ++asked > 8 ? "the test" : nullptr; };
  ASSERT_TRUE(train().ok());
  EXPECT_THAT(watcher_.warnings,
              ElementsAre("stopped by the test after step 8 of 20; add --resume to go on"));
  EXPECT_THAT(watcher_.checkpoints, ElementsAre("step-00000008"));

  stop_ = {};
  options_.resume = "latest";
  ASSERT_TRUE(train().ok());
  EXPECT_TRUE(watcher_.begins[0].resumed);
  EXPECT_EQ(watcher_.begins[0].step, 8U);
  EXPECT_TRUE(std::ranges::equal(watcher_.losses, std::span(whole).subspan(8)));
}

TEST_F(TrainingRunTest, AStopIsAskedForOnlyOnceTheRunListens) {
  options_.steps = 3;
  bool listens = false;
  stop_ = {.listen = [&] { listens = true; },
           .reason = [&]() -> const char * {
             EXPECT_TRUE(listens);
             return nullptr;
           }};
  ASSERT_TRUE(train().ok());
  EXPECT_TRUE(listens);
}

TEST_F(TrainingRunTest, WithoutACheckpointAStopIsAFailure) {
  options_.steps = 3;
  stop_.reason = [] { return "the test"; };
  EXPECT_EQ(train().exitCode(), 1);
  EXPECT_THAT(watcher_.failures, ElementsAre("stopped by the test after step 0; without --checkpoint-dir the "
                                             "progress is lost"));
}

TEST_F(TrainingRunTest, EvaluatesAlone) {
  options_.steps = 5;
  options_.checkpointDir = (folder_ / "checkpoints").string();
  ASSERT_TRUE(train().ok());
  options_.evalData = std::exchange(options_.data, {});
  options_.steps.reset();
  options_.resume = "latest";
  ASSERT_TRUE(train().ok());
  EXPECT_FALSE(watcher_.begins[0].trains);
  EXPECT_THAT(watcher_.losses, IsEmpty());
  ASSERT_EQ(watcher_.evaluations.size(), 1U);
  EXPECT_EQ(watcher_.evaluations[0].step, 5U);
  EXPECT_EQ(watcher_.ends, 1);
}

TEST_F(TrainingRunTest, AllDataAndTheWeightsAreOfOneTokenizer) {
  const std::string eval = (folder_ / "eval.bin").string();
  std::filesystem::copy_file(options_.data[0], eval);
  const uint64_t tokens = std::filesystem::file_size(eval) / sizeof(uint16_t);
  for (const auto &[file, record] : {std::pair(options_.data[0], TokenizerRecord{"bytes", 0}),
                                     std::pair(eval, TokenizerRecord{"other.json", 5})})
    ASSERT_TRUE(writeTokenSidecar(file, {record, 16, SafetensorsDType::kU16, tokens}).ok());
  options_.steps = 5;
  options_.checkpointDir = (folder_ / "checkpoints").string();
  options_.evalData = {eval};
  const Status mixed = train();
  EXPECT_EQ(mixed.exitCode(), 2);
  EXPECT_EQ(mixed.message(),
            fmt::format("--eval-data: {} was made with the tokenizer 'bytes', {} with 'other.json'; tokenize "
                        "them with the same one",
                        options_.data[0], eval));
  EXPECT_THAT(watcher_.losses, IsEmpty());
  options_.evalData.clear();
  ASSERT_TRUE(train().ok());

  const std::string other =
      "the checkpoint was trained on tokens of the tokenizer 'bytes', this data was made with 'other.json'";
  options_.data.clear();
  options_.steps.reset();
  options_.evalData = {eval};
  options_.resume = "latest";
  const Status evaluated = train();
  EXPECT_EQ(evaluated.exitCode(), 2);
  EXPECT_EQ(evaluated.message(), "--eval-data: " + other + "; give data of that tokenizer, " + kHowToAllow);
  options_.allowChanges = true;
  ASSERT_TRUE(train().ok());
  EXPECT_THAT(watcher_.warnings, ElementsAre(other));
  options_.allowChanges = false;
  options_.resume.clear();
  options_.init = {std::exchange(options_.checkpointDir, {}) + "/step-00000005"};
  ASSERT_TRUE(train().ok());
  EXPECT_THAT(watcher_.warnings, ElementsAre(other));
}

TEST_F(TrainingRunTest, WeightsInOtherFormatsAreNamed) {
  options_.steps = 1;
  const std::string text = "These are the weights of the model, as far as anybody remembers them.\n";
  for (const auto &[name, content, expected] :
       {std::tuple("pytorch_model.bin", std::string("PK\x03\x04") + std::string(200, '\7'),
                   "a zip file, as torch.save and numpy.savez write it; convert it in Python: "),
        std::tuple("w.safetensors", text, "text; name the .safetensors file of the weights")}) {
    writeFile(folder_ / name, content);
    options_.init = {(folder_ / name).string()};
    const Status status = train();
    EXPECT_EQ(status.exitCode(), 2) << name;
    EXPECT_THAT(status.message(),
                testing::StartsWith(options_.init[0] + ": expected a safetensors file, found " + expected));
  }
}

TEST_F(TrainingRunTest, GeneratesAfterTheTraining) {
  options_.steps = 1;
  options_.generate = {"\1\4"};
  options_.tokenizer = "bytes";
  options_.maxTokens = 6;
  const Status status = train();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(watcher_.text.substr(0, 2), "\1\4");
  EXPECT_EQ(watcher_.text.size(), 2 + 6 + 1U) << "and a line break";
}

TEST_F(TrainingRunTest, WhatEndsARunIsToldLast) {
  options_.steps = 3;
  std::string text = readFile(folder_ / "tokens.bin");
  for (size_t at = 0; at < text.size(); at += 8)
    text[at] = '\x7f'; // one token of four, so that the file opens
  writeFile(folder_ / "tokens.bin", text);
  const Status status = train();
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(), HasSubstr("tokens.bin"));
  EXPECT_THAT(watcher_.failures, ElementsAre(status.message()));
  EXPECT_EQ(watcher_.ends, 1);
}

TEST_F(TrainingRunTest, AnObserverCanRefuseTheRun) {
  options_.steps = 3;
  refusal_ = failed("not today");
  EXPECT_EQ(train().message(), "not today");
  EXPECT_THAT(watcher_.losses, IsEmpty());
  EXPECT_THAT(watcher_.failures, ElementsAre("not today"));
}

TEST_F(TrainingRunTest, RanksTrainTogether) {
  ASSERT_TRUE(writePlanFile(options_.plan, toyPlan(2, 2).payload()).ok());
  options_.steps = 6;
  options_.checkpointDir = (folder_ / "checkpoints").string();
  auto file = PlanFile::open(options_.plan);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::array<Watcher, 2> watchers;
  onRanks(file->plan(), [&](Communicator &communicator) {
    const auto device = testDevice();
    RunOptions options = options_;
    auto run =
        TrainingRun::create(*file, *device, options,
                            {.observers = {&watchers[communicator.rank()]}, .communicator = &communicator});
    ASSERT_TRUE(run.ok()) << run.status().message();
    const Status status = (*run)->run();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ((*run)->position().step, 6U);
  });
  EXPECT_EQ(watchers[0].losses.size(), 6U);
  EXPECT_EQ(watchers[0].losses, watchers[1].losses);
  for (const Watcher &watcher : watchers)
    EXPECT_THAT(watcher.checkpoints, ElementsAre("step-00000006"));
}

} // namespace
} // namespace trainc::test
