// The kernel that sums the data of ranks, on the emulated GPU: the bits of runtime/comm/tree_sum.h.
#include "runtime/comm/tree_sum.h"
#include "test/unit/codegen/cuda_harness.h"
#include "test/unit/codegen/low_numbers.h"

#include <gtest/gtest.h>

using namespace trainc;
using namespace trainc::codegen::harness;
using trainc::emulator::DeviceMemory;

namespace {

struct Sum {
  const char *element, *into;
  fb::DType dtype, sum;
  size_t bytes, sumBytes;
};

const Sum kSums[] = {{"f32", "f32", fb::DType::F32, fb::DType::F32, 4, 4},
                     {"bf16", "bf16", fb::DType::BF16, fb::DType::BF16, 2, 2},
                     {"f16", "f16", fb::DType::F16, fb::DType::F16, 2, 2},
                     {"bf16", "f32", fb::DType::BF16, fb::DType::F32, 2, 4},
                     {"f16", "f32", fb::DType::F16, fb::DType::F32, 2, 4}};

std::string sumText(const Sum &sum, size_t places) {
  std::string arguments, values, types;
  for (size_t place = 0; place < places; ++place) {
    const std::string comma = place ? ", " : "", type = "tensor<1x" + std::string(sum.element) + ">";
    values += comma + "%" + std::to_string(place);
    arguments += comma + "%" + std::to_string(place) + ": " + type;
    types += comma + type;
  }
  const std::string result = "tensor<1x" + std::string(sum.into) + ">";
  return "func.func @f(" + arguments + ") -> " + result + " {\n  %sum = dist.rank_sum " + values + " : " +
         types + " -> " + result + "\n  return %sum : " + result + "\n}";
}

std::vector<std::byte> valuesOf(const Sum &sum, size_t elements, unsigned seed) {
  std::vector<std::byte> bytes(elements * sum.bytes);
  const Low low = sum.dtype == fb::DType::F16 ? Low::F16 : Low::Bf16;
  std::mt19937 random(seed);
  for (size_t i = 0; i < elements; ++i) {
    const float number = std::uniform_real_distribution<float>(-2, 2)(random);
    const uint16_t bits = bitsOf(number, low);
    std::memcpy(&bytes[i * sum.bytes], sum.bytes == 4 ? static_cast<const void *>(&number) : &bits,
                sum.bytes);
  }
  return bytes;
}

class RankSum : public ::testing::TestWithParam<std::tuple<Sum, size_t>> {
protected:
  /// Sums into separate memory, or over the data of place `over`.
  void check(const CudaOp &op, size_t elements, std::optional<size_t> over = std::nullopt) {
    const auto &[sum, places] = GetParam();
    DeviceMemory memory(uint64_t(1) << 30);
    std::vector<std::vector<std::byte>> values;
    std::vector<const std::byte *> inputs;
    std::vector<uint64_t> arguments;
    for (size_t place = 0; place < places; ++place) {
      values.push_back(valuesOf(sum, elements, unsigned(place) + 1));
      // Aligned only to elements.
      const uint64_t begin = memory.allocate((elements + 1) * sum.bytes) + sum.bytes;
      std::memcpy(memory.bytes(begin, elements * sum.bytes), values.back().data(), elements * sum.bytes);
      memory.noteWritten(begin, elements * sum.bytes);
      arguments.push_back(begin);
    }
    for (const std::vector<std::byte> &each : values)
      inputs.push_back(each.data());
    std::vector<std::byte> expected(elements * sum.sumBytes);
    TreeSum(uint32_t(places)).sum(sum.dtype, inputs, sum.sum, expected.data(), elements);
    const uint64_t out = over ? arguments[*over] : memory.allocate(elements * sum.sumBytes + 64);
    arguments.insert(arguments.end(), {out, out + expected.size()});
    const Status status = op.launch(0, arguments, memory, /*seed=*/elements);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(memory.isWritten(out, expected.size()));
    EXPECT_EQ(std::memcmp(memory.bytes(out, expected.size()), expected.data(), expected.size()), 0)
        << elements << " elements";
    if (!over) {
      EXPECT_FALSE(memory.isWritten(out + expected.size(), 1)) << "after the end";
    }
  }
};

TEST_P(RankSum, HasTheBitsOfTheTree) {
  const auto &[sum, places] = GetParam();
  const CudaOp op(sumText(sum, places));
  ASSERT_TRUE(op);
  for (const size_t elements : {1, 1000, 140001}) // the last one is more than there are threads
    check(op, elements);
  if (sum.bytes == sum.sumBytes)
    for (size_t place = 0; place < places; ++place)
      check(op, 777, place);
}

INSTANTIATE_TEST_SUITE_P(Types, RankSum,
                         ::testing::Combine(::testing::ValuesIn(kSums), ::testing::Values(2, 3, 4, 7)),
                         [](const auto &info) {
                           const Sum &sum = std::get<0>(info.param);
                           return std::string(sum.element) + "_into_" + sum.into + "_of_" +
                                  std::to_string(std::get<1>(info.param));
                         });

} // namespace
