// Equality with transformers; test/golden/gguf/make_models.py wrote the tensors.
#include "runtime/formats/gguf_weights.h"

#include "base/small_float.h"
#include "runtime/formats/gguf_names.h"
#include "runtime/formats/weight_files.h"
#include "runtime/state/initial_weights.h"
#include "test/unit/runtime/formats/gguf_builder.h"

namespace trainc {
namespace {

using namespace test;
using testing::ElementsAre;

/// All elements as f32.
std::vector<float> floatsOf(const WeightTensor &tensor) {
  std::vector<std::byte> staging;
  const auto bytes = tensor.read(0, tensor.bytes(), staging);
  if (tensor.dtype == SafetensorsDType::kF32)
    return valuesOf<float>(bytes);
  std::vector<float> numbers;
  for (const uint16_t bits : valuesOf<uint16_t>(bytes))
    numbers.push_back(static_cast<float>(Float16{bits}));
  return numbers;
}

class GgufFamilies : public testing::TestWithParam<const char *> {};

TEST_P(GgufFamilies, TensorsAreThoseOfTransformers) {
  const std::filesystem::path folder = TRAINC_GGUF_GOLDENS;
  const auto ours = WeightFiles::open(folder / (std::string(GetParam()) + ".gguf"));
  const auto theirs = WeightFiles::open(folder / (std::string(GetParam()) + ".safetensors"));
  ASSERT_OK(ours);
  ASSERT_OK(theirs);
  EXPECT_EQ(ours->tensors().size(), theirs->tensors().size());
  for (const WeightTensor &expected : theirs->tensors()) {
    const WeightTensor *tensor = ours->find(expected.name);
    ASSERT_NE(tensor, nullptr) << expected.name;
    EXPECT_EQ(tensor->shape, expected.shape) << expected.name;
    EXPECT_EQ(floatsOf(*tensor), floatsOf(expected)) << expected.name;
  }
}

TEST_P(GgufFamilies, SlicesAreThoseOfTheWhole) {
  const auto weights =
      WeightFiles::open(std::filesystem::path(TRAINC_GGUF_GOLDENS) / (std::string(GetParam()) + ".gguf"));
  ASSERT_OK(weights);
  for (const WeightTensor &tensor : weights->tensors()) {
    std::vector<std::byte> all, part;
    const auto whole = tensor.read(0, tensor.bytes(), all);
    const uint64_t size = elementBytes(tensor.dtype);
    for (uint64_t begin = 0; begin < tensor.elements(); begin += 7) {
      const uint64_t count = std::min<uint64_t>(45, tensor.elements() - begin);
      const auto slice = tensor.read(begin * size, count * size, part);
      ASSERT_TRUE(std::ranges::equal(slice, whole.subspan(begin * size, count * size)))
          << tensor.name << " " << begin;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GgufFamilies,
                         testing::Values("llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi3", "starcoder2",
                                         "gpt2", "bloom"),
                         [](const auto &info) { return std::string(info.param); });

/// A file of the architecture with two heads of queries and one of keys.
GgufBuilder modelOf(const std::string &architecture) {
  GgufBuilder builder;
  builder.text("general.architecture", architecture)
      .u32(architecture + ".attention.head_count", 2)
      .u32(architecture + ".attention.head_count_kv", 1);
  return builder;
}

/// The elements of the one tensor of a file.
std::vector<float> only(const std::string &content) {
  const auto file = parseGguf(content);
  EXPECT_TRUE(file.ok());
  const auto tensors = huggingFaceTensors(*file);
  EXPECT_TRUE(tensors.ok()) << tensors.status().message();
  return floatsOf(tensors->at(0));
}

TEST(GgufWeights, GroupsOfFusedHeads) {
  // All queries, all keys, all values: a group of Falcon has its queries, the key and the value.
  EXPECT_THAT(only(modelOf("falcon").floats("blk.0.attn_qkv.bias", {4}, {1, 2, 3, 4}).build()),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(only(GgufBuilder()
                       .text("general.architecture", "gptneox")
                       .u32("gptneox.attention.head_count", 2)
                       .floats("blk.0.attn_qkv.weight", {1, 12}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23})
                       .build()),
              ElementsAre(0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23));
  EXPECT_THAT(only(GgufBuilder()
                       .text("general.architecture", "falcon")
                       .u32("falcon.attention.head_count", 4)
                       .u32("falcon.attention.head_count_kv", 2)
                       .floats("blk.0.attn_qkv.weight", {1, 8}, {0, 1, 2, 3, 10, 11, 20, 21})
                       .build()),
              ElementsAre(0, 1, 10, 20, 2, 3, 11, 21));
}

TEST(GgufWeights, NormsOfFalconDependOnTheirNumber) {
  const auto namesOf = [](const std::string &content) {
    const auto file = parseGguf(content);
    EXPECT_TRUE(file.ok());
    const auto tensors = huggingFaceTensors(*file);
    EXPECT_TRUE(tensors.ok()) << tensors.status().message();
    std::vector<std::string> names;
    for (const WeightTensor &tensor : *tensors)
      names.push_back(tensor.name);
    return names;
  };
  const auto one = [] { return modelOf("falcon").floats("blk.0.attn_norm.weight", {2}, {1, 2}); };
  EXPECT_THAT(namesOf(one().build()), ElementsAre("transformer.h.0.input_layernorm.weight"));
  EXPECT_THAT(namesOf(one().floats("blk.0.attn_norm_2.weight", {2}, {3, 4}).build()),
              ElementsAre("transformer.h.0.ln_mlp.weight", "transformer.h.0.ln_attn.weight"));
  const GgufFamily &falcon = *findGgufFamily("falcon");
  EXPECT_EQ(ggufName(falcon, "transformer.h.3.input_layernorm.bias")->name, "blk.3.attn_norm.bias");
  EXPECT_EQ(ggufName(falcon, "transformer.h.3.ln_mlp.bias")->name, "blk.3.attn_norm.bias");
  EXPECT_EQ(ggufName(falcon, "transformer.h.3.ln_attn.bias")->name, "blk.3.attn_norm_2.bias");
}

TEST(GgufWeights, GemmasNormsAndComputedTensors) {
  const std::string content = modelOf("gemma")
                                  .floats("output_norm.weight", {2}, {1.5, 0})
                                  .floats("rope_freqs.weight", {2}, {1, 2})
                                  .floats("blk.7.other.weight", {1}, {3})
                                  .build();
  const auto file = parseGguf(content);
  ASSERT_OK(file);
  const auto tensors = huggingFaceTensors(*file);
  ASSERT_OK(tensors);
  ASSERT_EQ(tensors->size(), 2U);
  EXPECT_EQ(tensors->at(0).name, "model.norm.weight");
  EXPECT_THAT(floatsOf(tensors->at(0)), ElementsAre(0.5, -1));
  EXPECT_EQ(tensors->at(1).name, "blk.7.other.weight");
}

TEST(GgufWeights, NamesWhatIsNotKnown) {
  const auto tensorsOf = [](const std::string &content) {
    const auto file = parseGguf(content);
    EXPECT_TRUE(file.ok());
    return huggingFaceTensors(*file);
  };
  EXPECT_INVALID(
      tensorsOf(GgufBuilder().text("general.architecture", "mamba").build()),
      "f: expected a model of llama, granite, smollm3, qwen2, qwen3, gemma, gemma2, gemma3, phi2, phi3, "
      "olmo2, "
      "stablelm, starcoder2, gpt2, gptneox, falcon, bloom, bert, found one of 'mamba', whose names of "
      "tensors are "
      "not known; convert it to safetensors");
  EXPECT_INVALID(
      tensorsOf(modelOf("llama").tensor("a", {32}, 20, std::string(18, '\0')).build()),
      "f: tensor 'a': expected elements of F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, "
      "Q5_K, Q6_K, found IQ4_NL; use a file of the model in another type, such as Q8_0");
  EXPECT_INVALID(
      tensorsOf(modelOf("llama").floats("blk.0.attn_q.weight", {1, 6}, {1, 2, 3, 4, 5, 6}).build()),
      "f: tensor 'blk.0.attn_q.weight': expected rows in 4 equal parts, for 2 heads of queries and 1 of "
      "keys, found F32 [6, 1]");
  EXPECT_INVALID(
      tensorsOf(GgufBuilder()
                    .text("general.architecture", "llama")
                    .floats("blk.0.attn_q.weight", {1, 4}, {1, 2, 3, 4})
                    .build()),
      "f: expected 'llama.attention.head_count' heads that 'llama.attention.head_count_kv' divides, found 0 "
      "and 0");
}

TEST(GgufWeights, NamesAreInverse) {
  for (const char *architecture : {"llama", "gemma2", "olmo2", "gpt2", "bloom", "bert"}) {
    const GgufFamily *family = findGgufFamily(architecture);
    ASSERT_NE(family, nullptr);
    for (const char *name :
         {"token_embd.weight", "blk.12.attn_output.weight", "blk.0.ffn_up.bias", "blk.3.ffn_down.weight"}) {
      const auto renamed = huggingFaceName(*family, name);
      ASSERT_TRUE(renamed) << name;
      EXPECT_EQ(ggufName(*family, renamed->name)->name, name) << renamed->name;
    }
  }
  const GgufFamily &llama = *findGgufFamily("llama");
  EXPECT_EQ(huggingFaceName(llama, "blk.3.attn_q.weight")->name, "model.layers.3.self_attn.q_proj.weight");
  EXPECT_EQ(huggingFaceName(llama, "blk.3.attn_q"), std::nullopt);
  EXPECT_EQ(huggingFaceName(llama, "blk..attn_q.weight"), std::nullopt);
  EXPECT_EQ(ggufName(llama, "model.layers.3.self_attn.q_norm.weight"), std::nullopt);
  EXPECT_EQ(ggufName(llama, "model.layers.3.self_attn.k_proj.bias")->change, GgufChange::kRotaryKeys);
}

TEST(GgufWeights, InitialWeightsOfAFile) {
  const Folder folder;
  const std::string path =
      folder.write("m.gguf", modelOf("llama")
                                 .floats("token_embd.weight", {2, 2}, {1, 2, 3, 4})
                                 .floats("blk.0.attn_q.weight", {1, 8}, {0, 1, 2, 3, 4, 5, 6, 7})
                                 .build());
  const auto weights = WeightFiles::open(path);
  ASSERT_OK(weights);
  EXPECT_THAT(weights->filePaths(), ElementsAre(path));
  std::vector<float> table(4), shard(4);
  const StateTensor parameters[] = {
      {"embed_tokens.weight", fb::DType::F32, {2, 2}, std::as_writable_bytes(std::span(table))},
      {"model.layers.0.self_attn.q_proj.weight",
       fb::DType::F32,
       {8, 1},
       std::as_writable_bytes(std::span(shard)),
       8}};
  ASSERT_OK(loadInitialWeights(*weights, parameters, 2));
  EXPECT_THAT(table, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(shard, ElementsAre(1, 3, 4, 6)) << "rows 2 to 5 of 0 2 1 3 4 6 5 7";
  const auto folderOnly = WeightFiles::open(folder.path());
  EXPECT_INVALID(folderOnly, folder.path().string() +
                                 ": expected a model.safetensors or a model.safetensors.index.json "
                                 "in this folder, found m.gguf; name that file");
}

} // namespace
} // namespace trainc
