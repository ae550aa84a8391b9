#include "runtime/comm/tree_sum.h"

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

Values sum(std::span<const Values> inputs) {
  std::vector<const float *> pointers;
  for (const Values &input : inputs)
    pointers.push_back(input.data());
  Values out(inputs[0].size());
  TreeSum(static_cast<uint32_t>(inputs.size())).sum(pointers, out.data(), out.size());
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
      std::vector<const float *> pointers;
      for (const Values &input : inputs)
        pointers.push_back(input.data());
      TreeSum(ranks).sum(pointers, inputs[target].data(), 3000);
      EXPECT_TRUE(test::sameBits(inputs[target], expected(ranks, 3000))) << target << " of " << ranks;
    }
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
