#include "runtime/formats/weight_files.h"

#include "runtime/state/initial_weights.h"
#include "test/unit/runtime/state/support.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char *kIndex = "model.safetensors.index.json";

/// Two files with a tensor each, and an index of them.
class WeightFilesTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(saveTensors(folder / "one.safetensors", {f32("a", {2}, {1, 2})}).ok());
    ASSERT_TRUE(saveTensors(folder / "two.safetensors", {f32("b", {1}, {3})}).ok());
    writeIndex(
        R"({"metadata": {"total_size": 12}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  }

  void writeIndex(std::string_view text) { writeFile(folder / kIndex, text); }
  /// The message of an index that is rejected.
  std::string refusal() {
    const auto files = WeightFiles::open(folder / kIndex);
    EXPECT_EQ(files.status().exitCode(), 2);
    EXPECT_THAT(files.status().message(), HasSubstr(folder.path().string()));
    return files.status().message();
  }

  TempFolder folder;
};

TEST_F(WeightFilesTest, IndexAndItsFolderGiveAllTensors) {
  for (const std::filesystem::path &path : {folder / kIndex, folder.path()}) {
    const auto files = WeightFiles::open(path);
    ASSERT_TRUE(files.ok()) << files.status().message();
    EXPECT_EQ(files->path(), folder / kIndex);
    const std::vector<OwnedTensor> plan = {f32("b", {1}, {0}), f32("a", {2}, {0, 0})};
    const Status status = loadInitialWeights(*files, views(plan), 2).status();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(plan[0].floats(), ElementsAre(3));
    EXPECT_THAT(plan[1].floats(), ElementsAre(1, 2));
  }
}

TEST_F(WeightFilesTest, AFoldersSingleFileComesFirst) {
  ASSERT_TRUE(saveTensors(folder / "model.safetensors", {f32("c", {1}, {4})}).ok());
  const auto files = WeightFiles::open(folder.path());
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_NE(files->find("c"), nullptr);
  EXPECT_EQ(files->find("a"), nullptr);
}

TEST_F(WeightFilesTest, OtherWeightsHaveOtherFingerprints) {
  const auto fingerprint = [&](float value) {
    EXPECT_TRUE(saveTensors(folder / "two.safetensors", {f32("b", {1}, {value})}).ok());
    return WeightFiles::open(folder / kIndex)->fingerprint();
  };
  const uint64_t first = fingerprint(3);
  EXPECT_NE(fingerprint(4), first);
  EXPECT_EQ(fingerprint(3), first);
}

TEST_F(WeightFilesTest, ANameTwiceInTheIndexIsAnError) {
  writeIndex(R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors", "a": "two.safetensors"}})");
  EXPECT_THAT(refusal(), HasSubstr("expected each name once, found 'weight_map.a' twice"));
}

TEST_F(WeightFilesTest, LeftoversOfAllFilesAreListed) {
  const auto files = WeightFiles::open(folder / kIndex);
  ASSERT_TRUE(files.ok()) << files.status().message();
  const Status status = loadInitialWeights(*files, views({f32("d", {1}, {0})}), 1).status();
  EXPECT_THAT(status.message(), HasSubstr("only in the file (2):\n    a: F32 [2]\n    b: F32 [1]"));
}

TEST_F(WeightFilesTest, NamesWhatIsWrongWithAnIndex) {
  writeIndex(R"({"weight_map": {)");
  EXPECT_THAT(refusal(), HasSubstr(":1:17: not JSON"));
  for (const char *text : {"[]", "{}", R"({"weight_map": {}})", R"({"weight_map": ["one.safetensors"]})"}) {
    writeIndex(text);
    EXPECT_THAT(refusal(),
                HasSubstr("expected an object with a \"weight_map\" from the names of tensors to files, "
                          "as a model.safetensors.index.json has; name that, a .safetensors file, or "
                          "the folder of the weights"))
        << text;
  }
  writeIndex(R"({"weight_map": {"a": 1}})");
  EXPECT_THAT(refusal(), HasSubstr("weight_map: expected the name of a file for 'a', found number"));
  writeIndex(R"({"weight_map": {"a": "three.safetensors"}})");
  EXPECT_THAT(refusal(), HasSubstr("three.safetensors: cannot open: No such file or directory"));
}

TEST_F(WeightFilesTest, AnIndexDoesNotLeadOutOfItsFolder) {
  ASSERT_TRUE(saveTensors(folder / "outside.safetensors", {f32("a", {2}, {1, 2})}).ok());
  std::filesystem::create_directory(folder / "inside");
  const std::vector<std::string> names = {"../outside.safetensors",
                                          folder / "outside.safetensors",
                                          "..",
                                          ".",
                                          "",
                                          "sub/x.safetensors",
                                          "x\\u0000y.safetensors",
                                          "tokenizer.json"};
  for (const std::string &name : names) {
    const std::string text = fmt::format(R"({{"weight_map": {{"a": "{}"}}}})", name);
    const auto index = parseWeightIndex("index.json", text);
    EXPECT_THAT(index.status().message(),
                HasSubstr("expected the name of a .safetensors file beside the index, without a folder"))
        << name;
    writeFile(folder / "inside/model.safetensors.index.json", text);
    EXPECT_FALSE(WeightFiles::open(folder / "inside").ok());
  }
}

TEST_F(WeightFilesTest, TensorsAreWhereTheIndexSays) {
  writeIndex(R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors"}})");
  EXPECT_THAT(refusal(), HasSubstr("tensor 'b' is in 'one.safetensors'; it is in none of the files"));
  ASSERT_TRUE(saveTensors(folder / "two.safetensors", {f32("b", {1}, {3}), f32("c", {1}, {3})}).ok());
  writeIndex(R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  EXPECT_THAT(refusal(), HasSubstr("expected all tensors of the files in the index, found 'c' in " +
                                   (folder / "two.safetensors").string() + " alone"));
  ASSERT_TRUE(saveTensors(folder / "two.safetensors", {f32("b", {1}, {3})}).ok());
  writeIndex(R"({"weight_map": {"a": "two.safetensors", "b": "one.safetensors"}})");
  EXPECT_THAT(refusal(),
              HasSubstr("tensor 'a' is in 'two.safetensors'; it is in " + (folder / "one").string()));
  ASSERT_TRUE(saveTensors(folder / "two.safetensors", {f32("a", {2}, {1, 2}), f32("b", {1}, {3})}).ok());
  writeIndex(R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  EXPECT_THAT(refusal(), HasSubstr("tensor 'a' is in two files"));
}

TEST_F(WeightFilesTest, DamagedFilesAreNamed) {
  const std::string good = readFile(folder / "two.safetensors");
  writeFile(folder / "two.safetensors", std::string_view(good).substr(0, good.size() - 1));
  EXPECT_THAT(refusal(), HasSubstr("two.safetensors"));
}

TEST(WeightFiles, AFolderThatCannotBeLookedInto) {
  const TempFolder folder;
  std::filesystem::create_symlink("model.safetensors", folder / "model.safetensors"); // to itself
  const std::string expected =
      folder.path().string() + ": cannot look for model.safetensors in it: Too many levels of symbolic links";
  EXPECT_EQ(WeightFiles::open(folder.path()).status().message(), expected);
  const auto holds = holdsWeights(folder.path());
  EXPECT_EQ(holds.status().exitCode(), 2);
  EXPECT_EQ(holds.status().message(), expected);
}

TEST(WeightFiles, AFolderWithoutWeights) {
  const TempFolder folder;
  EXPECT_EQ(WeightFiles::open(folder.path()).status().message(),
            folder.path().string() +
                ": expected a model.safetensors or a model.safetensors.index.json in this folder");
  writeFile(folder / "pytorch_model.bin", "PK");
  EXPECT_EQ(WeightFiles::open(folder.path()).status().message(),
            folder.path().string() +
                ": expected a model.safetensors or a model.safetensors.index.json in this folder, found "
                "pytorch_model.bin; " +
                std::string(kWeightsFromTorch));
}

} // namespace
} // namespace trainc
