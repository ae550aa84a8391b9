#include "runtime/state/initial_weights.h"

#include "runtime/state/weight_source.h"
#include "test/unit/runtime/state/support.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace trainc {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Loads `file`'s tensors into `plan`'s.
Result<UnpairedWeights> load(const std::vector<OwnedTensor> &file, const std::vector<OwnedTensor> &plan,
                             const InitialWeightsOptions &options = {}) {
  TempFolder folder;
  EXPECT_TRUE(saveTensors(folder / "w.safetensors", file).ok());
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles weights, WeightFiles::open(folder / "w.safetensors"));
  return loadInitialWeights(weights, views(plan), 2, {}, options);
}

Status loadFrom(const std::vector<OwnedTensor> &file, const std::vector<OwnedTensor> &plan,
                const InitialWeightsOptions &options = {}) {
  return load(file, plan, options).status();
}

TEST(InitialWeights, PrefixesAndNamesOfNormsMayDiffer) {
  for (const auto &[inFile, inPlan] :
       {std::pair("wte.weight", "wte.weight"),
        {"transformer.wte.weight", "wte.weight"},
        {"model.norm.weight", "norm.weight"},
        {"norm.weight", "model.norm.weight"},
        {"encoder.layer.0.output.dense.bias", "bert.encoder.layer.0.output.dense.bias"},
        {"bert.output.LayerNorm.gamma", "bert.output.LayerNorm.weight"},
        {"output.LayerNorm.beta", "bert.output.LayerNorm.bias"},
        {"output.LayerNorm.weight", "roberta.output.LayerNorm.gamma"}}) {
    const std::vector<OwnedTensor> plan = {f32(inPlan, {2}, {0, 0})};
    const Status status = loadFrom({f32(inFile, {2}, {3, 4})}, plan);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(plan[0].floats(), ElementsAre(3, 4)) << inFile;
  }
}

TEST(InitialWeights, ATensorGoesToOneParameter) {
  const std::vector<OwnedTensor> plan = {f32("w", {1}, {0}), f32("model.w", {1}, {0})};
  EXPECT_THAT(loadFrom({f32("w", {1}, {1})}, plan).message(),
              HasSubstr("only in the plan (1):\n    model.w: F32 [1]"));
  EXPECT_THAT(loadFrom({f32("model.w", {1}, {1})}, plan).message(),
              HasSubstr("only in the plan (1):\n    w: F32 [1]"));
  const auto loaded = load({f32("model.w", {1}, {1})}, plan, {.missing = {"w*"}});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT(loaded->drawn, ElementsAre("w"));
  EXPECT_THAT(plan[0].floats(), ElementsAre(0));
  EXPECT_THAT(plan[1].floats(), ElementsAre(1));
}

TEST(InitialWeights, NamesThatDoNotDecideAreAnError) {
  const std::vector<OwnedTensor> both = {f32("transformer.w", {1}, {0}), f32("model.w", {1}, {0})};
  const Status twoParameters = loadFrom({f32("w", {1}, {1})}, both);
  EXPECT_EQ(twoParameters.exitCode(), 2);
  EXPECT_THAT(twoParameters.message(),
              HasSubstr("tensor 'w' could be parameter 'transformer.w' or 'model.w'"));
  EXPECT_EQ(loadFrom({f32("w", {1}, {1})}, both, {.missing = {"model.*"}}).exitCode(), 2);
  const std::vector<OwnedTensor> one = {f32("w", {1}, {0})};
  const Status twoTensors = loadFrom(both, one);
  EXPECT_EQ(twoTensors.exitCode(), 2);
  EXPECT_THAT(
      twoTensors.message(),
      HasSubstr("tensors 'transformer.w' and 'model.w' could both be parameter 'w'; leave one out with "
                "--init-ignore"));
  EXPECT_TRUE(loadFrom(both, one, {.ignored = {"model.*"}}).ok());
}

TEST(InitialWeights, AdviceSelectsNothingThatFits) {
  const std::vector<OwnedTensor> file = {f32("w.weight", {1}, {5}), f32("w.masked", {1}, {1}),
                                         f32("gamma", {1}, {2})};
  const std::vector<OwnedTensor> plan = {f32("w.weight", {1}, {0}), f32("w.bias", {1}, {0}),
                                         f32("gain", {1}, {0})};
  EXPECT_THAT(loadFrom(file, plan).message(),
              HasSubstr("; --init-missing='w.bias,gain' draws such parameters anew; "
                        "--init-ignore='w.masked,gamma' leaves such tensors out\n"));
}

TEST(InitialWeights, AdviceSelectsEachGroup) {
  const std::vector<OwnedTensor> file = {f32("w", {1}, {5}), f32("cls.bias", {1}, {1}),
                                         f32("cls.dense.bias", {1}, {1}), f32("pooler.bias", {1}, {1})};
  const std::vector<OwnedTensor> plan = {f32("w", {1}, {0}), f32("score.weight", {1}, {0}),
                                         f32("norm.weight", {1}, {0})};
  EXPECT_THAT(loadFrom(file, plan).message(),
              HasSubstr("; --init-missing='score.*,norm.*' draws such parameters anew; "
                        "--init-ignore='cls.*,pooler.*' leaves such tensors out\n"));
}

TEST(InitialWeights, ADecoderOfTextsIsFoundWithinAModelOfPicturesAndTexts) {
  const std::vector<OwnedTensor> plan = {f32("model.norm.weight", {1}, {0}), f32("lm_head.weight", {1}, {0})};
  for (const auto &[norm, head, tower] :
       {std::tuple("language_model.model.norm.weight", "language_model.lm_head.weight", "vision_tower.w"),
        std::tuple("model.language_model.norm.weight", "lm_head.weight", "model.vision_tower.w")}) {
    const auto loaded = load({f32(norm, {1}, {3}), f32(head, {1}, {4}), f32(tower, {2}, {1, 2})}, plan);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_THAT(plan[0].floats(), ElementsAre(3));
    EXPECT_THAT(plan[1].floats(), ElementsAre(4));
    EXPECT_THAT(loaded->buffers, ElementsAre(tower));
  }
}

TEST(InitialWeights, TensorsAreLeftOutByPattern) {
  const std::vector<OwnedTensor> file = {f32("a", {1}, {1}), f32("head.weight", {2}, {5, 5}),
                                         f32("head.bias", {1}, {5})};
  const std::vector<OwnedTensor> plan = {f32("a", {1}, {0}), f32("head.weight", {2}, {0, 0})};
  EXPECT_THAT(loadFrom(file, {plan[0]}).message(),
              HasSubstr("; --init-ignore='head.*' leaves such tensors out\n"));
  const auto loaded = load(file, plan, {.missing = {"head.*"}, .ignored = {"head.*"}});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT(loaded->ignored, ElementsAre("head.weight", "head.bias"));
  EXPECT_THAT(loaded->drawn, ElementsAre("head.weight"));
  EXPECT_THAT(plan[1].floats(), ElementsAre(0, 0));
  EXPECT_THAT(loadFrom(file, plan, {.ignored = {"head.*"}}).message(),
              HasSubstr("only in the plan (1):\n    head.weight"));
  const Status idle = loadFrom(file, plan, {.ignored = {"a", "h[e]ad*"}});
  EXPECT_EQ(idle.exitCode(), 2);
  EXPECT_THAT(idle.message(),
              AllOf(HasSubstr("--init-ignore=h[e]ad*: no tensor of "), HasSubstr("`*` stands for any text")));
}

TEST(InitialWeights, HuggingFaceBuffersAreIgnored) {
  const std::vector<OwnedTensor> plan = {f32("wte.weight", {2, 1}, {0, 0}),
                                         f32("h.0.attn.c_attn.bias", {1}, {0})};
  const std::vector<OwnedTensor> file = {
      f32("transformer.wte.weight", {2, 1}, {3, 4}), f32("transformer.h.0.attn.c_attn.bias", {1}, {5}),
      f32("transformer.h.0.attn.bias", {1, 1, 1, 1}, {1}),
      f32("transformer.h.0.attn.masked_bias", {}, {-1e4}), f32("lm_head.weight", {2, 1}, {3, 4})};
  const auto loaded = load(file, plan);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT(plan[1].floats(), ElementsAre(5));
  EXPECT_THAT(loaded->buffers,
              ElementsAre("transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias", "lm_head.weight"));
}

TEST(InitialWeights, AParameterThatIsOnlyNamedLikeABufferIsNotIgnored) {
  for (const char *name : {"encoder.attn.bias", "h.0.attn.masked_bias"})
    EXPECT_THAT(loadFrom({f32("a", {1}, {1}), f32(name, {2}, {1, 1})}, {f32("a", {1}, {0})}).message(),
                HasSubstr(std::string("only in the file (1):\n    ") + name));
  EXPECT_THAT(
      loadFrom({f32("a", {1}, {1}), f32("xattn.bias", {1, 1, 2, 2}, {1, 1, 1, 1})}, {f32("a", {1}, {0})})
          .message(),
      HasSubstr("only in the file (1):\n    xattn.bias"));
}

TEST(InitialWeights, AnUntiedHeadIsNotIgnored) {
  const Status status = loadFrom({f32("wte.weight", {2, 1}, {3, 4}), f32("lm_head.weight", {2, 1}, {3, 5})},
                                 {f32("wte.weight", {2, 1}, {0, 0})});
  EXPECT_THAT(status.message(), HasSubstr("only in the file (1):\n    lm_head.weight: F32 [2, 1]"));
  EXPECT_THAT(status.message(),
              HasSubstr("; 'lm_head.weight' is not equal to 'wte.weight', so the weights are of a model "
                        "with a head of its own"));
  EXPECT_THAT(status.message(), Not(HasSubstr("--init-ignore")));
  // A plan with another head has no use for the file's.
  EXPECT_THAT(loadFrom({f32("wte.weight", {2, 1}, {3, 4}), f32("lm_head.weight", {2, 1}, {3, 5})},
                       {f32("wte.weight", {2, 1}, {0, 0}), f32("score.weight", {3, 1}, {0, 0, 0})},
                       {.missing = {"score.*"}})
                  .message(),
              HasSubstr("; --init-ignore='lm_head.*' leaves such tensors out"));
  EXPECT_THAT(loadFrom({f32("wte.weight", {2, 1}, {3, 4}), f32("lm_head.weight", {2, 1}, {3, 5})},
                       {f32("wte.weight", {2, 1}, {0, 0}), f32("score.weight", {3, 1}, {0, 0, 0})})
                  .message(),
              HasSubstr("; --init-ignore='lm_head.*' leaves such tensors out"));
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
                                         f32("h", {6}, std::vector<float>(6))};
  const std::vector<OwnedTensor> file = {
      {"d", fb::DType::F64, {2}, std::vector<double>{0.1, -2}},
      {"b", fb::DType::BF16, {3}, std::vector<uint16_t>{0x3F80, 0xC040, 0x7F7F}},
      // 1, -2, largest 65504, smallest normal 2^-14, smallest subnormal 2^-24, -0
      {"h", fb::DType::F16, {6}, std::vector<uint16_t>{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x0001, 0x8000}}};
  const Status status = loadFrom(file, plan);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(plan[0].floats(), ElementsAre(0.1F, -2.0F));
  EXPECT_THAT(plan[1].floats(), ElementsAre(1.0F, -3.0F, 0x1.fep127F));
  const std::vector<float> half = plan[2].floats();
  EXPECT_THAT(half, ElementsAre(1, -2, 65504, 0x1p-14F, 0x1p-24F, -0.0F));
  EXPECT_TRUE(std::signbit(half[5]));
}

TEST(InitialWeights, FloatsBecomeTheNearestBf16) {
  const auto bf16 = [](const char *name, uint64_t count) {
    return OwnedTensor(name, fb::DType::BF16, {count}, std::vector<uint16_t>(count));
  };
  const std::vector<OwnedTensor> plan = {bf16("s", 4), bf16("d", 2), bf16("h", 2), bf16("b", 2)};
  const std::vector<OwnedTensor> file = {
      // halfway to the number below and above, of which one is even
      f32("s", {4}, {1 + 0x1p-8F, 1 + 0x1.8p-7F, -3e38F, 0x1p-133F}),
      {"d", fb::DType::F64, {2}, std::vector<double>{1 + 0x1p-8 + 0x1p-40, -2}},
      {"h", fb::DType::F16, {2}, std::vector<uint16_t>{0x3C00, 0x7BFF}},
      {"b", fb::DType::BF16, {2}, std::vector<uint16_t>{0x7F7F, 0x0001}}};
  const Status status = loadFrom(file, plan);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(plan[0].shorts(), ElementsAre(0x3F80, 0x3F82, 0xFF62, 0x0001));
  EXPECT_THAT(plan[1].shorts(), ElementsAre(0x3F81, 0xC000));
  EXPECT_THAT(plan[2].shorts(), ElementsAre(0x3F80, 0x4780));
  EXPECT_THAT(plan[3].shorts(), ElementsAre(0x7F7F, 0x0001));
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

TEST(InitialWeights, WhatDoesNotFitF32IsAnError) {
  for (const fb::DType dtype : {fb::DType::F32, fb::DType::BF16}) {
    const Status status =
        loadFrom({{"w", fb::DType::F64, {2}, std::vector<double>{1, -1e300}}},
                 {{"w", dtype, {2}, std::vector<uint16_t>(dtype == fb::DType::F32 ? 4 : 2)}});
    EXPECT_EQ(status.exitCode(), 2);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("tensor 'w', element 1: -1e+300 does not fit "),
                                        testing::Not(HasSubstr("--param-type"))));
  }
}

TEST(InitialWeights, NanAndInfinityAreErrors) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto refusal = [](const OwnedTensor &tensor, fb::DType dtype) {
    const uint64_t count = tensor.tensor.shape[0];
    const Status status =
        loadFrom({f32("first", {1}, {1}), tensor},
                 {f32("first", {1}, {0}),
                  {"w", dtype, {count}, std::vector<uint16_t>(count * (dtype == fb::DType::F32 ? 2 : 1))}});
    EXPECT_EQ(status.exitCode(), 2);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("--init="), HasSubstr("--init-ignore='model.w' --init-missing='w'")));
    return status.message();
  };
  std::vector<float> many(300001, 1);
  many[300000] = -std::nanf("");
  for (const fb::DType dtype : {fb::DType::F32, fb::DType::BF16}) {
    EXPECT_THAT(refusal({"model.w", fb::DType::F64, {2}, std::vector<double>{1, -kInfinity}}, dtype),
                HasSubstr("tensor 'model.w', element 1: expected a finite number, found -inf;"));
    EXPECT_THAT(
        refusal({"model.w", fb::DType::F16, {3}, std::vector<uint16_t>{0x7BFF, 0x7C01, 0x7C00}}, dtype),
        HasSubstr("element 1: expected a finite number, found nan;"));
    EXPECT_THAT(refusal({"model.w", fb::DType::BF16, {3}, std::vector<uint16_t>{0x7F7F, 0xFF80, 0}}, dtype),
                HasSubstr("element 1: expected a finite number, found -inf;"));
    EXPECT_THAT(refusal(f32("model.w", {300001}, many), dtype),
                HasSubstr("element 300000: expected a finite number, found nan;"));
  }
  EXPECT_TRUE(loadFrom({f32("a", {1}, {1}), f32("mask", {1}, {-HUGE_VALF})}, {f32("a", {1}, {0})},
                       {.ignored = {"mask"}})
                  .ok());
}

TEST(InitialWeights, TheFirstWrongTensorIsNamed) {
  const float nan = std::nanf("");
  for (int i = 0; i < 20; ++i)
    EXPECT_THAT(loadFrom({f32("a", {1}, {nan}), f32("b", {3}, {1, 1, nan}), f32("c", {2}, {1, nan})},
                         {f32("b", {3}, {0, 0, 0}), f32("a", {1}, {0}), f32("c", {2}, {0, 0})})
                    .message(),
                HasSubstr("tensor 'b', element 2"));
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

/// A source of one file with these tensors.
WeightSource sourceOf(const TempFolder &folder, const std::string &name,
                      const std::vector<OwnedTensor> &tensors) {
  EXPECT_TRUE(saveTensors(folder / name, tensors).ok());
  auto source = openWeightSource(folder / name);
  EXPECT_TRUE(source.ok()) << source.status().message();
  return std::move(*source);
}

Result<WeightSource> joined(const TempFolder &folder, std::vector<NameRule> rules,
                            const std::vector<OwnedTensor> &base, const std::vector<OwnedTensor> &adapter) {
  std::vector<WeightSource> sources;
  sources.push_back(sourceOf(folder, "base.safetensors", base));
  sources.push_back(sourceOf(folder, "adapter.safetensors", adapter));
  return joinSources(std::move(sources), rules);
}

TEST(InitialWeights, SeveralFilesAreOne) {
  const TempFolder folder;
  const auto source = joined(folder, {}, {f32("w", {2}, {1, 2})}, {f32("w.lora", {1}, {3})});
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(source->weights.filePaths().size(), 2U);
  const std::vector<OwnedTensor> plan = {f32("w", {2}, {0, 0}), f32("w.lora", {1}, {0})};
  const auto loaded = loadInitialWeights(source->weights, views(plan), 2);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT(plan[0].floats(), ElementsAre(1, 2));
  EXPECT_THAT(plan[1].floats(), ElementsAre(3));
  EXPECT_THAT(joined(folder, {}, {f32("w", {1}, {1})}, {f32("w", {1}, {1})}).status().message(),
              AllOf(HasSubstr("tensor 'w' is in two files"), HasSubstr("base.safetensors"),
                    HasSubstr("adapter.safetensors")));
}

TEST(InitialWeights, RulesRenameTensors) {
  const TempFolder folder;
  const std::vector<OwnedTensor> base = {f32("body.0.w", {1}, {1}), f32("body.1.w", {1}, {2})};
  const auto source = joined(folder, {{"body.1.*", "last.*"}, {"body.*", "model.layers.*"}, {"tail", "end"}},
                             base, {f32("tail", {1}, {3})});
  ASSERT_TRUE(source.ok()) << source.status().message();
  const std::vector<OwnedTensor> plan = {f32("model.layers.0.w", {1}, {0}), f32("last.w", {1}, {0}),
                                         f32("end", {1}, {0})};
  const auto loaded = loadInitialWeights(source->weights, views(plan), 2);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_THAT(plan[0].floats(), ElementsAre(1));
  EXPECT_THAT(plan[1].floats(), ElementsAre(2));
  EXPECT_THAT(plan[2].floats(), ElementsAre(3));
  EXPECT_THAT(
      joined(folder, {{"body.*.w", "w*"}, {"body.1*", "v*"}}, base, {f32("a", {1}, {1})}).status().message(),
      HasSubstr("--rename='body.1*=v*': no tensor of"));
  EXPECT_THAT(joined(folder, {{"body.*.w", "*"}, {"a", "1"}}, base, {f32("a", {1}, {1})}).status().message(),
              HasSubstr("tensors 'body.1.w' and 'a' would both be '1'"));
}

TEST(InitialWeights, NamesThatFitAlmostAreAdvice) {
  const std::vector<OwnedTensor> plan = {f32("model.layers.0.w", {1}, {0}), f32("model.norm.w", {1}, {0})};
  EXPECT_THAT(loadFrom({f32("base.m.layers.0.w", {1}, {1}), f32("base.m.norm.w", {1}, {1})}, plan).message(),
              HasSubstr("--rename='base.m.*=model.*' gives the tensors the parameters' names"));
  EXPECT_THAT(loadFrom({f32("base.m.layers.0.w", {1}, {1}), f32("other.norm.w", {1}, {1})}, plan).message(),
              Not(HasSubstr("--rename")));
  EXPECT_THAT(
      loadFrom({f32("base.m.layers.0.w", {2}, {1, 1}), f32("base.m.norm.w", {1}, {1})}, plan).message(),
      Not(HasSubstr("--rename")));
  EXPECT_THAT(loadFrom({f32("layer.0.v", {1}, {1}), f32("norm.v", {1}, {1})}, plan).message(),
              Not(HasSubstr("--rename")));
}

} // namespace
} // namespace trainc
