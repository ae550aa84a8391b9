// Equality with the Python package gguf; test/golden/gguf/make_blocks.py wrote the numbers.
#include "runtime/formats/gguf_blocks.h"

#include "runtime/formats/safetensors_view.h"
#include "test/unit/runtime/data/support.h"

#include <bit>

namespace trainc {
namespace {

using namespace test;

class GgufBlocks : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_OK(blocks);
    ASSERT_OK(numbers);
  }

  const std::filesystem::path folder = TRAINC_GGUF_GOLDENS;
  const Result<GgufFile> blocks = GgufFile::open(folder / "blocks.gguf");
  const Result<SafetensorsView> numbers = SafetensorsView::open(folder / "blocks.safetensors");
};

TEST_F(GgufBlocks, AllTypesAreDequantizedBitForBit) {
  std::string types;
  for (const GgufTensor &tensor : blocks->tensors()) {
    ASSERT_TRUE(isDecodable(*tensor.type)) << tensor.name;
    EXPECT_EQ(tensor.name, tensor.type->name);
    types += (types.empty() ? "" : ", ") + tensor.name;
    std::vector<float> elements(tensor.elements());
    decodeGgufElements(*tensor.type, tensor.bytes, 0, elements);
    const auto expected = valuesOf<uint32_t>(numbers->find(tensor.name)->bytes);
    ASSERT_EQ(elements.size(), expected.size());
    for (size_t i = 0; i < elements.size(); ++i)
      ASSERT_EQ(std::bit_cast<uint32_t>(elements[i]), expected[i]) << tensor.name << " " << i;
  }
  EXPECT_EQ(blocks->tensors().size(), numbers->tensors().size());
  EXPECT_EQ(decodableTypes(), "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K");
}

TEST_F(GgufBlocks, SlicesBeginAndEndInBlocks) {
  for (const GgufTensor &tensor : blocks->tensors()) {
    std::vector<float> all(tensor.elements());
    decodeGgufElements(*tensor.type, tensor.bytes, 0, all);
    for (const auto &[first, count] :
         {std::pair<size_t, size_t>{0, 1}, {31, 2}, {255, 300}, {300, 5}, {1023, 1}, {7, 0}}) {
      std::vector<float> slice(count);
      decodeGgufElements(*tensor.type, tensor.bytes, first, slice);
      EXPECT_TRUE(std::ranges::equal(slice, std::span(all).subspan(first, count)))
          << tensor.name << " " << first;
    }
  }
}

TEST_F(GgufBlocks, MetadataOfAllTypes) {
  const auto value = [&](std::string_view key) { return *blocks->find("golden." + std::string(key)); };
  EXPECT_EQ(std::get<uint64_t>(value("uint8")), 200U);
  EXPECT_EQ(std::get<int64_t>(value("int8")), -100);
  EXPECT_EQ(std::get<uint64_t>(value("uint16")), 60000U);
  EXPECT_EQ(std::get<int64_t>(value("int16")), -30000);
  EXPECT_EQ(std::get<uint64_t>(value("uint32")), 4000000000U);
  EXPECT_EQ(std::get<int64_t>(value("int32")), -2000000000);
  EXPECT_EQ(std::get<uint64_t>(value("uint64")), (uint64_t{1} << 63) + 1);
  EXPECT_EQ(std::get<int64_t>(value("int64")), -(int64_t{1} << 62));
  EXPECT_EQ(std::get<float>(value("float32")), 1e-5F);
  EXPECT_EQ(std::get<double>(value("float64")), 1e-300);
  EXPECT_EQ(std::get<bool>(value("bool")), true);
  EXPECT_EQ(std::get<std::string_view>(value("string")), "naïve\n");
  EXPECT_THAT((*blocks->array("golden.strings", GgufValueType::kString))->strings,
              testing::ElementsAre("a", "", "\u2581b"));
  EXPECT_EQ((*blocks->array("golden.numbers", GgufValueType::kInt32))->number(1), -2);
  EXPECT_EQ((*blocks->array("golden.floats", GgufValueType::kFloat32))->number(1), -1.5);
}

} // namespace
} // namespace trainc
