// Collectives of several ranges, on every engine: each range as it would be alone.
#include "test/unit/runtime/comm/engine.h"
#include "test/unit/runtime/comm/support.h"

#include <numeric>

namespace trainc {
namespace {

using test::Floats;
using test::kAllGather;
using test::kAllReduce;
using test::kReduceScatter;
using test::rangeOf;
using test::Rank;
using test::sameBits;
using test::treeSums;
using Sizes = std::vector<uint64_t>;

/// Below, at and above cache lines, and none at all.
const Sizes kSizes = {1, 0, 7, 16, 30007, 17, 3, 15000, 5};
constexpr uint64_t kMaxElements = 30007;

/// Tensors of one collective in the memory of one rank.
class Tensors {
public:
  Tensors(Rank &rank, const Sizes &sizes, uint64_t times = 1, bool filled = true) {
    for (const uint64_t size : sizes)
      tensors_.push_back(filled ? rank.allocateValues(size * times) : rank.allocate(size * times));
  }

  const std::vector<Floats> &all() const { return tensors_; }

private:
  std::vector<Floats> tensors_;
};

std::vector<CollectiveRange> rangesOf(const Tensors &sources, const Tensors &destinations) {
  std::vector<CollectiveRange> ranges;
  for (size_t i = 0; i < sources.all().size(); ++i)
    ranges.push_back(rangeOf(sources.all()[i], destinations.all()[i]));
  return ranges;
}

class RangesTest : public testing::TestWithParam<test::Job> {
protected:
  void onRanks(uint64_t bytes, const std::function<void(Rank &)> &body) const {
    test::onRanks(GetParam(), bytes, body);
  }
  uint32_t n = GetParam().grid.ranks, k = GetParam().grid.shardRanks;
};

TEST_P(RangesTest, AllReduceSumsEach) {
  const std::vector<float> sums = treeSums(n, kMaxElements);
  onRanks(uint64_t{1} << 20, [&](Rank &rank) {
    const Tensors inPlace(rank, kSizes), sources(rank, kSizes), apart(rank, kSizes, 1, false);
    rank.run(kAllReduce, rangesOf(inPlace, inPlace));
    rank.run(kAllReduce, rangesOf(sources, apart));
    for (size_t i = 0; i < kSizes.size(); ++i) {
      const auto expected = std::span(sums).first(kSizes[i]);
      EXPECT_TRUE(sameBits(inPlace.all()[i], expected)) << "range " << i << " on rank " << rank.number();
      EXPECT_TRUE(sameBits(apart.all()[i], expected)) << "range " << i << " on rank " << rank.number();
    }
  });
}

TEST_P(RangesTest, ReduceScatterThenAllGatherIsAllReduce) {
  const Sizes sizes = {1, 7, 0, 30001, 16, 3};
  const std::vector<float> sums = treeSums(n, uint64_t{30001} * n);
  onRanks(uint64_t{4} << 20, [&](Rank &rank) {
    const Tensors sources(rank, sizes, n), parts(rank, sizes, 1, false), wholes(rank, sizes, n, false);
    rank.run(kReduceScatter, rangesOf(sources, parts));
    rank.run(kAllGather, rangesOf(parts, wholes));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto expected = std::span(sums).first(sizes[i] * n);
      EXPECT_TRUE(sameBits(parts.all()[i], expected.subspan(rank.number() * sizes[i], sizes[i])))
          << "part of range " << i << " on rank " << rank.number();
      EXPECT_TRUE(sameBits(wholes.all()[i], expected)) << "range " << i << " on rank " << rank.number();
    }
  });
}

// As in a unit with some parameters gathered from a state and others from updated values.
TEST_P(RangesTest, PartsMayLieWithinWholesOrApart) {
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const uint64_t size = 1001;
    const Floats source = rank.allocateValues(size * n), whole = rank.allocate(size * n),
                 apart = rank.allocate(size), gathered = rank.allocate(size * n),
                 within = whole.subspan(rank.number() * size, size);
    rank.run(kReduceScatter, std::array{rangeOf(source, within), rangeOf(source, apart)});
    rank.run(kAllGather, std::array{rangeOf(apart, gathered), rangeOf(within, whole)});
    const std::vector<float> sums = treeSums(n, size * n);
    EXPECT_TRUE(sameBits(whole, sums)) << "rank " << rank.number();
    EXPECT_TRUE(sameBits(gathered, sums)) << "rank " << rank.number();
  });
}

TEST_P(RangesTest, GathersMoveSeveralTypes) {
  using enum fb::DType;
  struct Type {
    fb::DType dtype;
    uint64_t elements, bytes; ///< of a part
  };
  const std::vector<Type> types = {{BF16, 3, 6}, {U8, 1, 1}, {F64, 5, 40}, {F32, 1000, 4000}, {U8, 130, 130}};
  onRanks(uint64_t{1} << 20, [&](Rank &rank) {
    std::vector<CollectiveRange> ranges;
    for (const Type &type : types) {
      const DeviceAddress whole = *rank->allocate("bytes", n * type.bytes),
                          part = whole + rank.number() * type.bytes;
      std::fill_n(part.pointer(), type.bytes, std::byte(rank.number() + type.bytes));
      ranges.push_back(
          {.source = part, .destination = whole, .elements = n * type.elements, .dtype = type.dtype});
    }
    rank.run(kAllGather, ranges);
    for (size_t i = 0; i < types.size(); ++i)
      for (uint64_t byte = 0; byte < n * types[i].bytes; ++byte)
        ASSERT_EQ(ranges[i].destination.pointer()[byte], std::byte(byte / types[i].bytes + types[i].bytes))
            << "byte " << byte << " of range " << i << " on rank " << rank.number();
  });
}

// An engine that divides transfers begins some pieces within a range and others at a boundary.
TEST_P(RangesTest, LargeAndSmallOnes) {
  const uint64_t large = n <= 4 ? 2500000 : 250000; // as many as two cores sum in a moment
  const Sizes sizes = {3, large, 1, large + 77, 40, 5};
  const uint64_t numbers = n * (n + 1) / 2;
  onRanks(uint64_t{100} << 20, [&](Rank &rank) {
    const Tensors sources(rank, sizes, 1, false), sums(rank, sizes, 1, false);
    for (const Floats source : sources.all())
      test::fillWithMultiples(source, rank.number() + 1);
    rank.run(kAllReduce, rangesOf(sources, sums));
    uint64_t wrong = 0;
    for (const Floats sum : sums.all())
      wrong += test::countOthers(sum, numbers);
    for (const Floats source : sources.all())
      wrong += test::countOthers(source, rank.number() + 1);
    EXPECT_EQ(wrong, 0U) << "elements on rank " << rank.number();
  });
}

TEST_P(RangesTest, ManySmallOnes) {
  constexpr uint64_t kRanges = 1024;
  onRanks(uint64_t{4} << 20, [this](Rank &rank) {
    Sizes sizes(kRanges);
    std::iota(sizes.begin(), sizes.end(), 0);
    const Tensors tensors(rank, sizes);
    rank.run(kAllReduce, rangesOf(tensors, tensors));
    const std::vector<float> sums = treeSums(n, kRanges);
    for (size_t i = 0; i < kRanges; ++i)
      ASSERT_TRUE(sameBits(tensors.all()[i], std::span(sums).first(i))) << i << " on " << rank.number();
  });
}

TEST_P(RangesTest, GroupsMeetToo) {
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const Sizes sizes = {3001, 1, 20};
    const Tensors sources(rank, sizes, k), parts(rank, sizes, 1, false), wholes(rank, sizes, k, false);
    rank.run({.kind = MeetingKind::kReduceScatter, .axes = test::kShard}, rangesOf(sources, parts));
    rank.run({.kind = MeetingKind::kAllReduce, .axes = test::kReplica}, rangesOf(parts, parts));
    rank.run({.kind = MeetingKind::kAllGather, .axes = test::kShard}, rangesOf(parts, wholes));
    for (const Floats whole : wholes.all())
      EXPECT_TRUE(sameBits(whole, treeSums(n, whole.size()))) << "rank " << rank.number();
  });
}

TEST_P(RangesTest, BytesAreThoseOfARing) {
  onRanks(uint64_t{8} << 20, [this](Rank &rank) {
    const Tensors tensors(rank, kSizes), sources(rank, kSizes, n), sums(rank, kSizes, n, false),
        parts(rank, kSizes, 1, false);
    const auto moves = [&](const Collective &collective, const Tensors &from, const Tensors &to) {
      rank.run(collective, rangesOf(from, to));
      rank.expectBytesOfARing();
    };
    moves(kAllReduce, tensors, tensors);
    moves(kAllReduce, sources, sums);
    moves(kReduceScatter, sources, parts);
    moves(kAllGather, parts, sums);
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, RangesTest, testing::ValuesIn(test::jobs()), test::nameOf);

} // namespace
} // namespace trainc
