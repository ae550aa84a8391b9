#include "base/hash.h"
#include "runtime/state/checkpoint_reader.h"
#include "runtime/state/checkpoint_writer.h"
#include "test/unit/runtime/no_threads.h"
#include "test/unit/runtime/state/support.h"

#include <cmath>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CheckpointTest : public testing::Test {
protected:
  CheckpointTest() {
    auto folder = CheckpointFolder::open(root_.path());
    EXPECT_TRUE(folder.ok()) << folder.status().message();
    writer_.emplace(std::move(*folder),
                    CheckpointContents{views(parameters_), views(optimizer_), {{"config.json", "{}\n"}}}, 2);
  }

  Status write(uint64_t step) {
    TrainerState state;
    state.plan = "toy";
    state.step = step;
    writer_->start(state);
    EXPECT_TRUE(writer_->pending());
    writer_->waitUntilRead();
    return writer_->wait();
  }

  static Status load(const std::filesystem::path &path, const std::vector<OwnedTensor> &parameters,
                     const std::vector<OwnedTensor> &optimizer) {
    TRAINC_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::open(path));
    TRAINC_RETURN_IF_ERROR(checkpoint.loadParameters(views(parameters), 2));
    return checkpoint.loadOptimizer(views(optimizer), 2);
  }

  TempFolder root_;
  std::vector<OwnedTensor> parameters_ = {f32("a.weight", {2, 2}, {1, 2, 3, 4}), f32("a.bias", {2}, {5, 6})};
  std::vector<OwnedTensor> optimizer_ = {f32("exp_avg.a.weight", {2, 2}, {7, 8, 9, 10}),
                                         {"step", fb::DType::I64, {}, std::vector<int64_t>{3}}};
  std::optional<CheckpointWriter> writer_;
};

TEST_F(CheckpointTest, NeedsNoThread) {
  const test::NoThreads none;
  ASSERT_TRUE(write(20).ok());
  const Status status = load(root_ / "step-00000020", parameters_, optimizer_);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(CheckpointTest, ResumesTheLossScaleOfEarlierVersionsIfItBehavesTheSame) {
  for (const float hysteresis : {1.0F, 2.0F}) {
    std::vector<OwnedTensor> optimizer = optimizer_;
    optimizer.push_back(f32("loss_scale_hysteresis", {}, {hysteresis}));
    writer_.reset(); // which has locked the folder
    auto folder = CheckpointFolder::open(root_.path());
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    writer_.emplace(std::move(*folder), CheckpointContents{views(parameters_), views(optimizer), {}}, 2);
    const auto step = static_cast<uint64_t>(hysteresis);
    ASSERT_TRUE(write(step).ok());
    const std::filesystem::path path = root_ / fmt::format("step-{:08}", step);
    const Status status = load(path, parameters_, optimizer_);
    if (hysteresis == 1)
      EXPECT_TRUE(status.ok()) << status.message();
    else
      EXPECT_EQ(
          status.message(),
          (path / "optimizer.safetensors").string() +
              ": loss_scale_hysteresis is 2: the run halved its loss scale after several steps with "
              "overflow, by a setting of earlier versions; this plan's halves after each. A new run can "
              "begin with the weights alone: --init=" +
              path.string());
  }
}

TEST_F(CheckpointTest, IsOfTheStepThatItsFolderSays) {
  ASSERT_TRUE(write(20).ok());
  std::filesystem::rename(root_ / "step-00000020", root_ / "step-00000200");
  for (const char *name : {"step-00000200", "step-00000200/"})
    EXPECT_THAT(
        Checkpoint::open(root_ / name).status().message(),
        HasSubstr("expected the state of step 200, as the folder's name says, found that of step 20; the "
                  "checkpoint is damaged"));
  std::filesystem::rename(root_ / "step-00000200", root_ / "best");
  EXPECT_TRUE(Checkpoint::open(root_ / "best").ok());
}

TEST_F(CheckpointTest, RoundTrip) {
  ASSERT_TRUE(write(20).ok());
  EXPECT_FALSE(writer_->pending());
  EXPECT_TRUE(writer_->wait().ok());
  const std::vector<OwnedTensor> parameters = {f32("a.bias", {2}, {0, 0}),
                                               f32("a.weight", {2, 2}, {0, 0, 0, 0})};
  const std::vector<OwnedTensor> optimizer = {f32("exp_avg.a.weight", {2, 2}, {0, 0, 0, 0}),
                                              {"step", fb::DType::I64, {}, std::vector<int64_t>{0}}};
  const Status status = load(root_ / "step-00000020", parameters, optimizer);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(parameters[1].floats(), parameters_[0].floats());
  EXPECT_EQ(parameters[0].floats(), parameters_[1].floats());
  EXPECT_EQ(optimizer[0].bytes, optimizer_[0].bytes);
  EXPECT_EQ(optimizer[1].bytes, optimizer_[1].bytes);
  EXPECT_EQ(readFile(root_ / "step-00000020/config.json"), "{}\n");
}

TEST_F(CheckpointTest, ParametersAreFinite) {
  const float value = std::nanf("");
  std::memcpy(parameters_[1].bytes.data() + sizeof(float), &value, sizeof(value));
  const Status status = write(20);
  EXPECT_EQ(status.exitCode(), 1);
  EXPECT_THAT(status.message(),
              HasSubstr("the checkpoint of step 20 was not written (there is no earlier one): "
                        "parameter 'a.bias' holds nan in element 1"));
  EXPECT_FALSE(std::filesystem::exists(root_ / "step-00000020"));
}

TEST_F(CheckpointTest, OptimizerStatesMayBeInfinite) {
  const float value = HUGE_VALF;
  std::memcpy(optimizer_[0].bytes.data(), &value, sizeof(value));
  ASSERT_TRUE(write(20).ok());
  const Status status = load(root_ / "step-00000020", parameters_, optimizer_);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(CheckpointTest, TensorsMayChangeOnceTheyAreRead) {
  TrainerState state;
  state.step = 20;
  writer_->waitUntilRead();
  writer_->start(state);
  writer_->waitUntilRead();
  EXPECT_TRUE(writer_->pending());
  std::ranges::fill(parameters_[0].bytes, std::byte{0xFF});
  ASSERT_TRUE(writer_->wait().ok());
  const std::vector<OwnedTensor> read = {f32("a.weight", {2, 2}, {0, 0, 0, 0}), f32("a.bias", {2}, {0, 0})};
  const auto checkpoint = Checkpoint::open(root_ / "step-00000020");
  ASSERT_TRUE(checkpoint.ok());
  ASSERT_TRUE(checkpoint->loadParameters(views(read), 1).ok());
  EXPECT_EQ(read[0].floats(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(CheckpointTest, EqualStatesGiveEqualBytes) {
  ASSERT_TRUE(write(20).ok());
  std::vector<std::string> first;
  for (const char *file : {kModelFile, kOptimizerFile, kTrainerStateFile})
    first.push_back(readFile(root_ / "step-00000020" / file));
  ASSERT_TRUE(write(20).ok());
  for (const char *file : {kModelFile, kOptimizerFile, kTrainerStateFile}) {
    EXPECT_EQ(readFile(root_ / "step-00000020" / file), first.front()) << file;
    first.erase(first.begin());
  }
}

TEST_F(CheckpointTest, KeepsTheLastTwo) {
  for (const uint64_t step : {10U, 20U, 30U})
    ASSERT_TRUE(write(step).ok());
  EXPECT_THAT(listCheckpoints(root_.path()), testing::ElementsAre(20, 30));
}

TEST_F(CheckpointTest, EveryChangedByteOfTheTensorsIsFound) {
  ASSERT_TRUE(write(20).ok());
  const auto path = root_ / "step-00000020";
  for (const char *file : {kModelFile, kOptimizerFile}) {
    const std::string text = readFile(path / file);
    for (size_t i = 0; i < text.size(); ++i) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      writeFile(path / file, damaged);
      const Status status = load(path, parameters_, optimizer_);
      ASSERT_FALSE(status.ok()) << file << " byte " << i;
      ASSERT_EQ(status.exitCode(), 2);
      ASSERT_THAT(status.message(), AllOf(HasSubstr((path / file).string()), HasSubstr("damaged")));
    }
    writeFile(path / file, text.substr(0, text.size() - 1));
    EXPECT_THAT(load(path, parameters_, optimizer_).message(),
                HasSubstr(fmt::format("expected {} bytes, found {}", text.size(), text.size() - 1)));
    writeFile(path / file, "");
    EXPECT_FALSE(load(path, parameters_, optimizer_).ok());
    writeFile(path / file, text);
  }
  std::string damaged = readFile(path / kModelFile);
  damaged.back() ^= 1;
  writeFile(path / kModelFile, damaged);
  EXPECT_THAT(load(path, parameters_, optimizer_).message(),
              HasSubstr("tensor 'a.bias' does not have the checksum"));
}

class NoOptimizerStateTest : public CheckpointTest {
protected:
  NoOptimizerStateTest() {
    auto folder = CheckpointFolder::open(root_ / "sgd");
    EXPECT_TRUE(folder.ok()) << folder.status().message();
    writer_.emplace(std::move(*folder), CheckpointContents{views(parameters_), {}, {}}, 1);
    EXPECT_TRUE(write(20).ok());
  }

  Status load() const { return CheckpointTest::load(path_, parameters_, {}); }

  /// Every flipped byte of the file, which is all header, is found.
  void expectDamageIsFound() const {
    const std::string text = readFile(path_ / kOptimizerFile);
    ASSERT_EQ(text.size(), 64U);
    for (size_t i = 0; i < text.size(); ++i) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      writeFile(path_ / kOptimizerFile, damaged);
      const Status status = load();
      EXPECT_EQ(status.exitCode(), 2) << "byte " << i;
      EXPECT_THAT(status.message(), HasSubstr("optimizer.safetensors: header: expected checksum"));
    }
  }

  std::filesystem::path path_ = root_ / "sgd/step-00000020";
};

TEST_F(NoOptimizerStateTest, RoundTrip) {
  const Status status = load();
  EXPECT_TRUE(status.ok()) << status.message();
  expectDamageIsFound();
}

/// Writes a trainer state with the checksum of its text.
void writeSealed(const std::filesystem::path &folder, nlohmann::json state) {
  state.erase("xxh3");
  const std::string text = state.dump();
  state["xxh3"] = fmt::format("{:016x}", xxh3(std::as_bytes(std::span(text))));
  writeFile(folder / kTrainerStateFile, state.dump(1));
}

/// Rewrites a trainer state as format 1 has it: with one checksum of each tensor, and of each file.
void rewriteAsFirstFormat(const std::filesystem::path &folder) {
  nlohmann::json state = nlohmann::json::parse(readFile(folder / kTrainerStateFile));
  state["format"] = 1;
  for (auto &[name, file] : state["files"].items()) {
    file.erase("block_bytes");
    const std::string bytes = readFile(folder / name);
    file["xxh3"] = fmt::format("{:016x}", xxh3(std::as_bytes(std::span(bytes))));
    if (!file.contains("tensors"))
      file.erase("header_xxh3"); // as the first versions of format 1 did
    else
      for (auto &[tensor, checksums] : file["tensors"].items())
        checksums = std::string(checksums[0]);
  }
  writeSealed(folder, state);
}

TEST_F(NoOptimizerStateTest, OfTheFirstFormat) {
  rewriteAsFirstFormat(path_);
  const Status status = load();
  EXPECT_TRUE(status.ok()) << status.message();
  expectDamageIsFound();
}

TEST_F(CheckpointTest, TheFirstFormatIsReadAndVerified) {
  ASSERT_TRUE(write(20).ok());
  const auto path = root_ / "step-00000020";
  rewriteAsFirstFormat(path);
  const Status status = load(path, parameters_, optimizer_);
  EXPECT_TRUE(status.ok()) << status.message();
  std::string damaged = readFile(path / kModelFile);
  damaged.back() ^= 1;
  writeFile(path / kModelFile, damaged);
  EXPECT_THAT(load(path, parameters_, optimizer_).message(),
              HasSubstr("tensor 'a.bias' does not have the checksum"));
}

TEST_F(CheckpointTest, ATensorWithoutAChecksumIsRefused) {
  ASSERT_TRUE(write(20).ok());
  const auto path = root_ / "step-00000020";
  nlohmann::json state = nlohmann::json::parse(readFile(path / kTrainerStateFile));
  ASSERT_EQ(state["files"][kModelFile]["tensors"].erase("a.bias"), 1U);
  writeSealed(path, state);
  EXPECT_THAT(load(path, parameters_, optimizer_).message(),
              HasSubstr("expected a checksum of tensor 'a.bias' in trainer_state.json, found none"));
}

TEST_F(CheckpointTest, AnotherModelIsRefusedByName) {
  ASSERT_TRUE(write(20).ok());
  const std::vector<OwnedTensor> other = {f32("a.weight", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                          f32("b.bias", {2}, {5, 6})};
  const Status status = load(root_ / "step-00000020", other, optimizer_);
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("(of 'toy') does not fit this plan"), HasSubstr("--product-type"),
                    HasSubstr("a.weight: F32 [2, 2] in the file, F32 [2, 3] in the plan"),
                    HasSubstr("only in the plan (1):\n    b.bias: F32 [2]"),
                    HasSubstr("only in the file (1):\n    a.bias: F32 [2]")));
  EXPECT_EQ(other[1].floats(), (std::vector<float>{5, 6}));
}

TEST_F(CheckpointTest, OptimizersThatDifferLeaveTheWeights) {
  ASSERT_TRUE(write(20).ok());
  const std::vector<OwnedTensor> other = {f32("scale.a", {1}, {1})};
  const std::filesystem::path folder = root_ / "step-00000020";
  EXPECT_THAT(load(folder, parameters_, other).message(),
              AllOf(HasSubstr("--product-type"), HasSubstr("--init=" + folder.string() + "\n"),
                    HasSubstr("only in the plan (1):\n    scale.a")));
}

TEST_F(CheckpointTest, MissingFilesAreNamed) {
  EXPECT_THAT(load(root_ / "step-00000020", {}, {}).message(), HasSubstr("step-00000020/trainer_state.json"));
  ASSERT_TRUE(write(20).ok());
  std::filesystem::remove(root_ / "step-00000020/optimizer.safetensors");
  EXPECT_THAT(load(root_ / "step-00000020", parameters_, optimizer_).message(),
              AllOf(HasSubstr("step-00000020/optimizer.safetensors: cannot open: no such file"),
                    HasSubstr("its weights alone: --init=" + (root_ / "step-00000020").string())));
}

TEST_F(CheckpointTest, FullDiskKeepsThePreviousOne) {
  ASSERT_TRUE(write(20).ok());
  {
    const FullDisk full(100);
    const Status status = write(40);
    EXPECT_EQ(status.exitCode(), 1);
    EXPECT_THAT(
        status.message(),
        AllOf(HasSubstr("the checkpoint of step 40 was not written (the last one is that of step 20)"),
              HasSubstr("model.safetensors: cannot write: File too large")));
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_.path()), {}), 1);
  EXPECT_TRUE(load(root_ / "step-00000020", parameters_, optimizer_).ok());
  EXPECT_TRUE(write(60).ok());
}

} // namespace
} // namespace trainc
