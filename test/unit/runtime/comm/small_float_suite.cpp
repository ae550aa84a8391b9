// Sums of bf16 and f16 numbers, on every engine: added in f32 over the tree, and rounded once or left wide.
#include "test/unit/runtime/comm/engine.h"
#include "test/unit/runtime/comm/support.h"

namespace trainc {
namespace {

using test::kAllReduce;
using test::kReduceScatter;
using test::kReplica;
using test::kShard;
using test::rangeOf;
using test::Rank;

template <typename Small> std::span<Small> allocate(Rank &rank, uint64_t elements) {
  return {rank->allocate("numbers", elements * sizeof(Small))->as<Small>(), elements};
}

template <typename Small> std::span<Small> allocateValues(Rank &rank, uint64_t elements) {
  const std::span<Small> values = allocate<Small>(rank, elements);
  for (uint64_t i = 0; i < elements; ++i)
    values[i] = test::smallValue<Small>(rank.number(), i);
  return values;
}

/// Expects the sum over `ranks`, from the `begin`-th number on.
template <typename Small> void expectSums(std::span<const Small> found, uint32_t ranks, uint64_t begin = 0) {
  for (uint64_t i = 0; i < found.size(); ++i)
    ASSERT_PRED2(test::sameNumber<Small>, found[i], test::smallTreeSum<Small>(ranks, begin + i))
        << "element " << begin + i << " of " << found.size();
}

class SmallFloatsTest : public testing::TestWithParam<test::Job> {
protected:
  void onRanks(const std::function<void(Rank &)> &body) const {
    test::onRanks(GetParam(), uint64_t{4} << 20, body);
  }
  uint32_t n = GetParam().grid.ranks, k = GetParam().grid.shardRanks;
};

template <typename Small> void checkAllReduce(Rank &rank, uint32_t n) {
  for (const uint64_t elements : {uint64_t{0}, uint64_t{1}, uint64_t{n + 1}, uint64_t{33}, uint64_t{30007}}) {
    const auto inPlace = allocateValues<Small>(rank, elements),
               source = allocateValues<Small>(rank, elements), apart = allocate<Small>(rank, elements);
    rank.run(kAllReduce, std::array{rangeOf(inPlace, inPlace)});
    rank.run(kAllReduce, std::array{rangeOf(source, apart)});
    rank.expectBytesOfARing();
    expectSums<Small>(inPlace, n);
    expectSums<Small>(apart, n);
  }
}

TEST_P(SmallFloatsTest, AllReduce) {
  onRanks([this](Rank &rank) {
    checkAllReduce<BFloat16>(rank, n);
    checkAllReduce<Float16>(rank, n);
  });
}

template <typename Small> void checkReduceScatter(Rank &rank, uint32_t n) {
  for (const uint64_t size : {1, 7, 33, 10001}) {
    const auto source = allocateValues<Small>(rank, size * n), part = allocate<Small>(rank, size);
    rank.run(kReduceScatter, std::array{rangeOf(source, part)});
    rank.expectBytesOfARing();
    expectSums<Small>(part, n, rank.number() * size);
  }
}

TEST_P(SmallFloatsTest, ReduceScatter) {
  onRanks([this](Rank &rank) {
    checkReduceScatter<BFloat16>(rank, n);
    checkReduceScatter<Float16>(rank, n);
  });
}

/// Each rank's part of the sum over its shard group, where its part of a whole lies, or all in one place.
template <typename Small> void checkWideningReduceScatter(Rank &rank) {
  const Members members = rank.grid().members(kShard, rank.number());
  const uint32_t place = members.placeOf(rank.number());
  for (const uint64_t size : {1, 7, 33, 10001}) {
    const auto source = allocateValues<Small>(rank, size * members.count);
    const test::Floats whole = rank.allocate(size * members.count), apart = rank.allocate(size);
    const test::Floats part = whole.subspan(place * size, size);
    for (const test::Floats out : {part, apart}) {
      rank.run({.kind = MeetingKind::kReduceScatter, .axes = kShard},
               std::array{test::wideningRange<Small>(source, out)});
      rank.expectBytesOfARing();
      for (uint64_t i = 0; i < size; ++i)
        ASSERT_PRED2(test::sameFloat, out[i],
                     test::wideTreeSum<Small>(members.first, members.count, place * size + i))
            << "element " << i << " of " << size;
    }
  }
}

TEST_P(SmallFloatsTest, ReduceScatterIntoF32) {
  onRanks([](Rank &rank) {
    checkWideningReduceScatter<BFloat16>(rank);
    checkWideningReduceScatter<Float16>(rank);
  });
}

// Sums of gradients under hybrid sharding: rounded once, like those of flat sharding. Ranges may widen.
template <typename Small> void checkSumsOverGroups(Rank &rank, uint32_t n, uint32_t k) {
  const uint64_t size = 3001, begin = rank.number() % k * size;
  const auto source = allocateValues<Small>(rank, size * k), part = allocate<Small>(rank, size);
  const test::Floats sums = rank.allocate(size), single = rank.allocateValues(k), own = rank.allocate(1);
  rank.run({.kind = MeetingKind::kReduceScatter, .axes = kShard},
           std::array{rangeOf(single, own), test::wideningRange<Small>(source, sums), rangeOf(source, part)});
  rank.run({.kind = MeetingKind::kAllReduce, .axes = kReplica}, std::array{rangeOf(sums, sums)});
  rank.expectBytesOfARing();
  uint64_t rounded = 0;
  for (uint64_t i = 0; i < size; ++i) {
    ASSERT_PRED2(test::sameFloat, sums[i], test::wideTreeSum<Small>(0, n, begin + i)) << "element " << i;
    rounded += static_cast<float>(Small::nearest(double{sums[i]})) != sums[i];
  }
  EXPECT_TRUE(n == 1 || rounded > 0) << "the values cannot tell whether sums are rounded";
}

TEST_P(SmallFloatsTest, SumsOverShardsInF32ThenReplicasAreTheFlatSum) {
  onRanks([this](Rank &rank) {
    checkSumsOverGroups<BFloat16>(rank, n, k);
    checkSumsOverGroups<Float16>(rank, n, k);
  });
}

// Ranges of several types in one collective, such as gradients and the loss.
TEST_P(SmallFloatsTest, GoTogetherWithOthers) {
  onRanks([this](Rank &rank) {
    const auto brain = allocateValues<BFloat16>(rank, 3001);
    const auto half = allocateValues<Float16>(rank, 77);
    const test::Floats single = rank.allocateValues(1);
    rank.run(kAllReduce, std::array{rangeOf(brain, brain), rangeOf(single, single), rangeOf(half, half)});
    rank.expectBytesOfARing();
    expectSums<BFloat16>(brain, n);
    expectSums<Float16>(half, n);
    EXPECT_TRUE(test::sameBits(single, test::treeSums(n, 1)));
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, SmallFloatsTest, testing::ValuesIn(test::jobs()), test::nameOf);

} // namespace
} // namespace trainc
