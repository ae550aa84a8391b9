#include "runtime/formats/gguf_writer.h"

#include "runtime/formats/gguf_blocks.h"
#include "runtime/formats/safetensors_view.h"
#include "test/unit/runtime/formats/gguf_builder.h"

namespace trainc {
namespace {

using namespace test;
using testing::ElementsAre;

const GgufTensorType &typeNamed(std::string_view name) {
  for (uint32_t id = 0; id < 64; ++id)
    if (const GgufTensorType *type = findGgufType(id); type && type->name == name)
      return *type;
  ADD_FAILURE() << name;
  return *findGgufType(0);
}

TEST(GgufWriter, FilesAreReadBack) {
  GgufHeader header;
  header.addText("general.architecture", "llama");
  header.addCount("llama.block_count", 2);
  header.addNumber("llama.rope.freq_base", 1e4F);
  header.addBoolean("tokenizer.ggml.add_bos_token", true);
  header.addTexts("tokenizer.ggml.tokens", std::vector<std::string>{"a", "", "\u2581b"});
  header.addNumbers("tokenizer.ggml.scores", std::vector<float>{0.5F, -1});
  header.addIntegers("tokenizer.ggml.token_type", std::vector<int32_t>{1, -2});
  std::vector<float> numbers(64);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i) - 20;
  std::vector<GgufOutputTensor> tensors;
  for (const char *type : {"F32", "F16", "BF16", "Q8_0"}) {
    EXPECT_TRUE(isEncodable(typeNamed(type)));
    tensors.push_back({type, &typeNamed(type), {2, 32}});
  }
  const auto layout = header.layOut(tensors);
  ASSERT_OK(layout);
  std::string content = layout->header;
  content.resize(layout->bytes);
  for (size_t i = 0; i < tensors.size(); ++i)
    encodeGgufElements(*tensors[i].type, numbers,
                       std::as_writable_bytes(std::span(content))
                           .subspan(layout->offsets[i], encodedBytes(*tensors[i].type, 64)));
  const auto file = parseGguf(content);
  ASSERT_OK(file);
  EXPECT_EQ(*file->text("general.architecture"), "llama");
  EXPECT_EQ(**file->count("llama.block_count"), 2U);
  EXPECT_EQ(std::get<float>(*file->find("llama.rope.freq_base")), 1e4F);
  EXPECT_EQ(std::get<bool>(*file->find("tokenizer.ggml.add_bos_token")), true);
  EXPECT_THAT((*file->array("tokenizer.ggml.tokens", GgufValueType::kString))->strings,
              ElementsAre("a", "", "\u2581b"));
  EXPECT_EQ((*file->array("tokenizer.ggml.scores", GgufValueType::kFloat32))->number(1), -1);
  EXPECT_EQ((*file->array("tokenizer.ggml.token_type", GgufValueType::kInt32))->number(1), -2);
  for (const GgufTensor &tensor : file->tensors()) {
    EXPECT_THAT(tensor.shape, ElementsAre(2, 32));
    std::vector<float> read(64);
    decodeGgufElements(*tensor.type, tensor.bytes, 0, read);
    for (size_t i = 0; i < read.size(); ++i)
      EXPECT_NEAR(read[i], numbers[i], tensor.name == "Q8_0" ? 0.2 : 0) << tensor.name;
  }
}

TEST(GgufWriter, BytesAreThoseOfThePythonPackage) {
  const auto golden =
      SafetensorsView::open(std::filesystem::path(TRAINC_GGUF_GOLDENS) / "encoded.safetensors");
  ASSERT_OK(golden);
  const auto numbers = valuesOf<float>(golden->find("numbers")->bytes);
  for (const char *name : {"F32", "F16", "BF16", "Q8_0"}) {
    std::vector<std::byte> stored(encodedBytes(typeNamed(name), numbers.size()));
    encodeGgufElements(typeNamed(name), numbers, stored);
    EXPECT_TRUE(std::ranges::equal(stored, golden->find(name)->bytes)) << name;
  }
}

TEST(GgufWriter, ShapesThatTheFormatLacks) {
  const auto layOut = [](std::string_view type, std::vector<uint64_t> shape) {
    const GgufOutputTensor tensor{"w", &typeNamed(type), std::move(shape)};
    return GgufHeader().layOut(std::span(&tensor, 1));
  };
  EXPECT_INVALID(layOut("F32", {}), "tensor 'w': GGUF has tensors of 1 to 4 extents above zero, found []");
  EXPECT_INVALID(layOut("F32", {2, 0}),
                 "tensor 'w': GGUF has tensors of 1 to 4 extents above zero, found [2, 0]");
  EXPECT_INVALID(
      layOut("Q8_0", {2, 40}),
      "tensor 'w': Q8_0 needs rows of whole blocks of 32 elements, found rows of 40; write it as F16");
  EXPECT_FALSE(isEncodable(typeNamed("Q4_K")));
}

} // namespace
} // namespace trainc
