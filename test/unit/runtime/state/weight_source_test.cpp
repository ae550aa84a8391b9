#include "runtime/state/weight_source.h"

#include "runtime/state/checkpoint_files.h"
#include "test/unit/runtime/state/support.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// Writes a checkpoint whose only parameter, "a", has the value `step`.
void writeCheckpoint(const fs::path &folder, uint64_t step) {
  fs::create_directories(folder);
  const std::vector<OwnedTensor> parameters = {f32("a", {1}, {static_cast<float>(step)})};
  const std::vector<OwnedTensor> optimizer = {f32("exp_avg.a", {1}, {0})};
  const CheckpointFiles files({views(parameters), views(optimizer), {{"config.json", "{}\n"}}}, {});
  ASSERT_TRUE(files.create(folder).ok());
  const auto own = files.write(folder, [] {});
  ASSERT_TRUE(own.ok());
  TrainerState state;
  state.step = step;
  ASSERT_TRUE(files.complete(folder, state, *own).ok());
}

class WeightSourceTest : public testing::Test {
protected:
  void SetUp() override {
    writeCheckpoint(first, 20);
    writeCheckpoint(second, 100);
  }

  /// The value of the parameter "a" that is found at `path`.
  static float open(const fs::path &path) {
    const auto source = openWeightSource(path);
    EXPECT_TRUE(source.ok()) << source.status().message();
    const WeightTensor *tensor = source.ok() ? source->weights.find("a") : nullptr;
    float value = 0;
    if (tensor)
      std::memcpy(&value, tensor->stored.data(), sizeof(value));
    return value;
  }
  static std::string refusal(const fs::path &path) {
    const auto source = openWeightSource(path);
    EXPECT_EQ(source.status().exitCode(), 2);
    return source.status().message();
  }

  TempFolder root;
  fs::path first = root / "run/step-00000020", second = root / "run/step-00000100";
};

TEST_F(WeightSourceTest, CheckpointsByWhateverNameTheyAreGiven) {
  EXPECT_EQ(open(first), 20);
  EXPECT_EQ(open(first / ""), 20);
  EXPECT_EQ(open(first / "model.safetensors"), 20);
  EXPECT_EQ(open(root / "run"), 100) << "the latest";
  writeFile(root / "run/model.safetensors", "consolidated");
  EXPECT_EQ(open(root / "run"), 100);
}

TEST_F(WeightSourceTest, OfACheckpointAllFilesAreInputs) {
  for (const fs::path &path : {first, first / "model.safetensors"}) {
    const auto source = openWeightSource(path);
    ASSERT_TRUE(source.ok()) << source.status().message();
    EXPECT_EQ(source->path, first);
    EXPECT_THAT(source->recorded.tensors, testing::SizeIs(1));
    EXPECT_THAT(source->inputs,
                UnorderedElementsAre(first / "model.safetensors", first / "optimizer.safetensors",
                                     first / "config.json", first / "trainer_state.json"));
  }
}

TEST_F(WeightSourceTest, ModelsOfOthers) {
  fs::create_directory(root / "hf");
  ASSERT_TRUE(saveTensors(root / "hf/x.safetensors", {f32("a", {1}, {3})}).ok());
  writeFile(root / "hf/model.safetensors.index.json", R"({"weight_map": {"a": "x.safetensors"}})");
  const auto source = openWeightSource(root / "hf");
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_THAT(source->recorded.tensors, testing::IsEmpty());
  EXPECT_THAT(source->inputs,
              UnorderedElementsAre(root / "hf/x.safetensors", root / "hf/model.safetensors.index.json"));
  EXPECT_EQ(open(root / "hf"), 3);
  EXPECT_EQ(open(root / "hf/x.safetensors"), 3);
}

TEST_F(WeightSourceTest, AnIncompleteCheckpointIsRefused) {
  fs::remove(second / "trainer_state.json");
  for (const fs::path &path : {second, root / "run"})
    EXPECT_THAT(refusal(path),
                HasSubstr(second.string() + ": the checkpoint is incomplete, it has no trainer_state.json"));
  EXPECT_EQ(open(second / "model.safetensors"), 100) << "unchecked, as the message offers";
  fs::remove(first / "model.safetensors");
  EXPECT_THAT(refusal(first), HasSubstr("model.safetensors: cannot open: No such file or directory"));
}

TEST_F(WeightSourceTest, ADamagedHeaderIsFoundAtOnce) {
  std::string bytes = readFile(first / "model.safetensors");
  bytes[10] ^= 1;
  writeFile(first / "model.safetensors", bytes);
  EXPECT_THAT(refusal(first), HasSubstr("model.safetensors: header: expected checksum "));
}

TEST_F(WeightSourceTest, SaysWhatAFolderLacks) {
  fs::create_directory(root / "empty");
  EXPECT_EQ(refusal(root / "empty"),
            (root / "empty").string() +
                ": expected a checkpoint (trainer_state.json), checkpoints (step-NNNNNNNN), a "
                "model.safetensors or a model.safetensors.index.json in this folder");
  EXPECT_THAT(refusal(root / "none"), HasSubstr("none: cannot open: No such file or directory"));
}

} // namespace
} // namespace trainc
