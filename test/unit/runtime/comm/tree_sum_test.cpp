#include "runtime/comm/tree_sum.h"

#include "plan/facts/dtype.h"
#include "test/unit/runtime/comm/support.h"

namespace trainc {
namespace {

using Values = std::vector<float>;

std::vector<Values> values(uint32_t ranks, uint64_t elements) {
  std::vector<Values> all(ranks, Values(elements));
  for (uint32_t rank = 0; rank < ranks; ++rank)
    for (uint64_t i = 0; i < elements; ++i)
      all[rank][i] = test::value(rank, i);
  return all;
}

/// Adds the inputs into `out`, of their type or F32, which may be one of them.
template <typename Element, typename Out>
void sumInto(fb::DType dtype, std::span<const std::vector<Element>> inputs, std::vector<Out> &out) {
  std::vector<const std::byte *> pointers;
  for (const auto &input : inputs)
    pointers.push_back(std::as_bytes(std::span(input)).data());
  TreeSum(static_cast<uint32_t>(inputs.size()))
      .sum(dtype, pointers, std::is_same_v<Out, float> ? fb::DType::F32 : dtype,
           std::as_writable_bytes(std::span(out)).data(), out.size());
}

Values sum(std::span<const Values> inputs) {
  Values out(inputs[0].size());
  sumInto<float>(fb::DType::F32, inputs, out);
  return out;
}

Values expected(uint32_t ranks, uint64_t elements) {
  Values out(elements);
  for (uint64_t i = 0; i < elements; ++i)
    out[i] = test::treeSum(ranks, i);
  return out;
}

TEST(TreeSum, IsTheTree) {
  for (uint32_t ranks = 1; ranks <= 17; ++ranks)
    for (const uint64_t elements : {0, 1, 3, 1023, 1024, 1025, 5000})
      EXPECT_TRUE(test::sameBits(sum(values(ranks, elements)), expected(ranks, elements)))
          << elements << " elements of " << ranks;
}

TEST(TreeSum, IsNotTheSumInOrder) {
  const auto inputs = values(4, 5000);
  Values inOrder = inputs[0];
  for (uint32_t rank = 1; rank < 4; ++rank)
    for (size_t i = 0; i < inOrder.size(); ++i)
      inOrder[i] += inputs[rank][i];
  EXPECT_FALSE(test::sameBits(sum(inputs), inOrder)) << "the values cannot tell orders apart";
}

TEST(TreeSum, WritesOverAnyInput) {
  for (const uint32_t ranks : {1U, 2U, 3U, 5U, 8U})
    for (uint32_t target = 0; target < ranks; ++target) {
      auto inputs = values(ranks, 3000);
      sumInto<float>(fb::DType::F32, inputs, inputs[target]);
      EXPECT_TRUE(test::sameBits(inputs[target], expected(ranks, 3000))) << target << " of " << ranks;
    }
}

/// Sums of bf16 and f16 numbers, apart from the inputs, in f32, and over each of the inputs.
template <typename Small> void checkSmall(fb::DType dtype, uint32_t ranks, uint64_t elements) {
  std::vector<std::vector<Small>> inputs(ranks, std::vector<Small>(elements));
  for (uint32_t rank = 0; rank < ranks; ++rank)
    for (uint64_t i = 0; i < elements; ++i)
      inputs[rank][i] = test::smallValue<Small>(rank, i);
  const auto expectSums = [&](const std::vector<Small> &found) {
    for (uint64_t i = 0; i < elements; ++i)
      ASSERT_PRED2(test::sameNumber<Small>, found[i], test::smallTreeSum<Small>(ranks, i))
          << "element " << i << " of " << elements << ", " << ranks << " ranks, " << dtypeName(dtype);
  };
  std::vector<Small> out(elements);
  sumInto<Small>(dtype, inputs, out);
  expectSums(out);
  Values wide(elements);
  sumInto<Small>(dtype, inputs, wide);
  for (uint64_t i = 0; i < elements; ++i)
    ASSERT_PRED2(test::sameFloat, wide[i], test::wideTreeSum<Small>(0, ranks, i)) << "element " << i;
  for (uint32_t target = 0; target < ranks; ++target) {
    auto copies = inputs;
    sumInto<Small>(dtype, copies, copies[target]);
    expectSums(copies[target]);
  }
}

TEST(TreeSum, AddsSmallFloatsInF32AndRoundsOnceOrNot) {
  for (uint32_t ranks = 1; ranks <= 9; ++ranks)
    for (const uint64_t elements : {0, 1, 3, 31, 1023, 1024, 1025, 3001}) {
      checkSmall<BFloat16>(fb::DType::BF16, ranks, elements);
      checkSmall<Float16>(fb::DType::F16, ranks, elements);
    }
}

/// The values above can tell: 256 + 1 + 1 + 0 is 258 in bf16, and 256 if each sum is rounded.
TEST(TreeSum, RoundsNoPartOfASum) {
  std::vector<std::vector<BFloat16>> inputs;
  for (const double number : {256, 1, 1, 0})
    inputs.push_back({BFloat16::nearest(number)});
  std::vector<BFloat16> out(1);
  sumInto<BFloat16>(fb::DType::BF16, inputs, out);
  EXPECT_EQ(static_cast<float>(out[0]), 258);
}

/// 256 + 1 has no place in bf16.
TEST(TreeSum, InF32IsNotRounded) {
  const std::vector<BFloat16> inputs[] = {{BFloat16::nearest(256.0)}, {BFloat16::nearest(1.0)}};
  Values out(1);
  sumInto<BFloat16>(fb::DType::BF16, inputs, out);
  EXPECT_EQ(out[0], 257);
}

TEST(TreeSum, AlignedGroupsGiveTheFlatSum) {
  for (uint32_t ranks = 1; ranks <= 16; ++ranks)
    for (const size_t group : {2, 4, 8}) {
      const auto all = values(ranks, 2000);
      std::vector<Values> sums;
      for (size_t first = 0; first < ranks; first += group)
        sums.push_back(sum(std::span(all).subspan(first, std::min<size_t>(group, ranks - first))));
      EXPECT_TRUE(test::sameBits(sum(sums), sum(all))) << ranks << " in groups of " << group;
    }
}

} // namespace
} // namespace trainc
