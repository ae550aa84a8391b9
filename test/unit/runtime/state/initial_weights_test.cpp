#include "runtime/state/initial_weights.h"

#include "test/unit/runtime/state/support.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace trainc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Loads `file`'s tensors into `plan`'s.
Status loadFrom(const std::vector<OwnedTensor> &file, const std::vector<OwnedTensor> &plan) {
  TempFolder folder;
  EXPECT_TRUE(saveTensors(folder / "w.safetensors", file).ok());
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles weights, WeightFiles::open(folder / "w.safetensors"));
  return loadInitialWeights(weights, views(plan), 2).status();
}

TEST(InitialWeights, PrefixesMayDiffer) {
  for (const auto &[inFile, inPlan] : {std::pair("wte.weight", "wte.weight"),
                                       {"transformer.wte.weight", "wte.weight"},
                                       {"model.norm.weight", "norm.weight"},
                                       {"norm.weight", "model.norm.weight"}}) {
    const std::vector<OwnedTensor> plan = {f32(inPlan, {2}, {0, 0})};
    const Status status = loadFrom({f32(inFile, {2}, {3, 4})}, plan);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(plan[0].floats(), ElementsAre(3, 4)) << inFile;
  }
}

TEST(InitialWeights, HuggingFaceBuffersAreIgnored) {
  const std::vector<OwnedTensor> plan = {f32("wte.weight", {2, 1}, {0, 0}),
                                         f32("h.0.attn.c_attn.bias", {1}, {0})};
  const std::vector<OwnedTensor> file = {
      f32("transformer.wte.weight", {2, 1}, {3, 4}), f32("transformer.h.0.attn.c_attn.bias", {1}, {5}),
      f32("transformer.h.0.attn.bias", {1, 1}, {1}), f32("transformer.h.0.attn.masked_bias", {}, {-1e4}),
      f32("lm_head.weight", {2, 1}, {3, 4})};
  const Status status = loadFrom(file, plan);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(plan[1].floats(), ElementsAre(5));
}

TEST(InitialWeights, AnUntiedHeadIsNotIgnored) {
  const Status status = loadFrom({f32("wte.weight", {2, 1}, {3, 4}), f32("lm_head.weight", {2, 1}, {3, 5})},
                                 {f32("wte.weight", {2, 1}, {0, 0})});
  EXPECT_THAT(status.message(), HasSubstr("only in the file (1):\n    lm_head.weight: F32 [2, 1]"));
}

TEST(InitialWeights, MismatchesAreListed) {
  const Status status =
      loadFrom({f32("a", {2}, {1, 2}), f32("c", {1}, {1}), {"i", fb::DType::I32, {1}, std::vector{1}}},
               {f32("a", {1, 2}, {0, 0}), f32("b", {1}, {0}), f32("i", {1}, {0})});
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("a: F32 [2] in the file, F32 [1, 2] in the plan"),
                    HasSubstr("i: I32 [1] in the file, F32 [1] in the plan"),
                    HasSubstr("only in the plan (1):\n    b"), HasSubstr("only in the file (1):\n    c")));
}

TEST(InitialWeights, FloatsBecomeF32) {
  const std::vector<OwnedTensor> plan = {f32("d", {2}, {0, 0}), f32("b", {3}, {0, 0, 0}),
                                         f32("h", {8}, std::vector<float>(8))};
  const std::vector<OwnedTensor> file = {
      {"d", fb::DType::F64, {2}, std::vector<double>{0.1, -2}},
      {"b", fb::DType::BF16, {3}, std::vector<uint16_t>{0x3F80, 0xC040, 0x7F80}},
      // 1, -2, largest 65504, smallest normal 2^-14, smallest subnormal 2^-24, -0, infinity, NaN
      {"h",
       fb::DType::F16,
       {8},
       std::vector<uint16_t>{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x8000, 0x7C00, 0x7E01}}};
  const Status status = loadFrom(file, plan);
  ASSERT_TRUE(status.ok()) << status.message();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(plan[0].floats(), ElementsAre(0.1F, -2.0F));
  EXPECT_THAT(plan[1].floats(), ElementsAre(1.0F, -3.0F, kInfinity));
  const std::vector<float> half = plan[2].floats();
  EXPECT_THAT(std::span(half).first(7), ElementsAre(1, -2, 65504, 0x1p-14F, 0x1p-24F, -0.0F, kInfinity));
  EXPECT_TRUE(std::signbit(half[5]));
  EXPECT_TRUE(std::isnan(half[7]));
}

TEST(InitialWeights, FloatsBecomeTheNearestBf16) {
  const auto bf16 = [](const char *name, uint64_t count) {
    return OwnedTensor(name, fb::DType::BF16, {count}, std::vector<uint16_t>(count));
  };
  const std::vector<OwnedTensor> plan = {bf16("s", 4), bf16("d", 2), bf16("h", 2), bf16("b", 2)};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<OwnedTensor> file = {
      // halfway to the number below and above, of which one is even
      f32("s", {4}, {1 + 0x1p-8F, 1 + 0x1.8p-7F, -kInfinity, 0x1p-133F}),
      {"d", fb::DType::F64, {2}, std::vector<double>{1 + 0x1p-8 + 0x1p-40, -2}},
      {"h", fb::DType::F16, {2}, std::vector<uint16_t>{0x3C00, 0x7C00}},
      {"b", fb::DType::BF16, {2}, std::vector<uint16_t>{0x7F81, 0x0001}}}; // NaN keeps its bits
  const Status status = loadFrom(file, plan);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(plan[0].shorts(), ElementsAre(0x3F80, 0x3F82, 0xFF80, 0x0001));
  EXPECT_THAT(plan[1].shorts(), ElementsAre(0x3F81, 0xC000));
  EXPECT_THAT(plan[2].shorts(), ElementsAre(0x3F80, 0x7F80));
  EXPECT_THAT(plan[3].shorts(), ElementsAre(0x7F81, 0x0001));
}

TEST(InitialWeights, WhatDoesNotFitBf16IsAnError) {
  std::vector<float> values(300001, 1);
  values[300000] = 3.4e38F; // in the last chunk
  const Status status = loadFrom({f32("w", {300001}, values)},
                                 {{"w", fb::DType::BF16, {300001}, std::vector<uint16_t>(300001)}});
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("--init="), HasSubstr("tensor 'w', element 300000: 3.39999995e+38"),
                    HasSubstr("does not fit BF16"), HasSubstr("--param-type=f32")));
}

TEST(InitialWeights, LargeTensorsOfSeveralChunks) {
  std::vector<uint16_t> values(300001);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint16_t>(0x3F80 + i % 64);
  const std::vector<OwnedTensor> plan = {f32("w", {300001}, std::vector<float>(300001))};
  ASSERT_TRUE(loadFrom({{"w", fb::DType::BF16, {300001}, values}}, plan).ok());
  const std::vector<float> floats = plan[0].floats();
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(floats[i], 1 + static_cast<float>(i % 64) / 128) << i;
}

} // namespace
} // namespace trainc
