#include "base/nearest_word.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(NearestWord, HasTheSmallestEditDistance) {
  EXPECT_EQ(findNearest("stpes", {"seed", "steps"}), "steps");
  EXPECT_EQ(findNearest("SELECTIVE", {"none", "selective"}), "selective");
  EXPECT_EQ(findNearest("xyz", {"seed", "steps"}), "");
  EXPECT_EQ(findNearest("", {"seed", "steps"}), "");
  EXPECT_EQ(findNearest("seed", {}), "");
}

TEST(NearestWord, MayBeginWithTheWord) {
  EXPECT_EQ(findNearest("sel", {"none", "selective"}), "selective");
  EXPECT_EQ(findNearest("se", {"none", "selective"}), "");
  EXPECT_EQ(findNearest("lective", {"none", "selective"}), "selective") << "a small distance";
}

TEST(NearestWord, IsAWordOfTheSameMeaning) {
  EXPECT_EQ(findNearest("gpu", {"auto", "cpu", "cuda"}), "cuda") << "though cpu is nearer";
  EXPECT_EQ(findNearest("Float32", {"fp32", "bf16", "fp16"}), "fp32");
  EXPECT_EQ(findNearest("fp16", {"f32", "bf16", "f16"}), "f16");
  EXPECT_EQ(findNearest("bfloat16", {"fp32", "fp16", "bf16"}), "bf16");
}

TEST(NearestWord, ListsWords) {
  EXPECT_EQ(listWords({}), "nothing");
  EXPECT_EQ(listWords({"a"}), "a");
  EXPECT_EQ(listWords({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(listWords({"a", "b", "c"}), "a, b and c");
}

TEST(NearestWord, DescribesAnUnknownWord) {
  EXPECT_EQ(describeUnknownWord("x", {"only"}), "expected only, found 'x'");
  EXPECT_EQ(describeUnknownWord("skpi", {"stop", "skip"}),
            "expected stop or skip, found 'skpi'; did you mean 'skip'?");
  EXPECT_EQ(describeUnknownWord("5", {"a", "b", "c"}), "expected a, b or c, found '5'");
  EXPECT_EQ(describeUnknownWord("Cosine_with_warmup", {"linear", "cosine"}),
            "expected linear or cosine, found 'Cosine_with_warmup'; did you mean 'cosine'?");
}

} // namespace
} // namespace trainc
