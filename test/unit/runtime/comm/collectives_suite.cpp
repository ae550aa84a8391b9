// Tests that every engine must pass, with the same bits.
#include "runtime/comm/tree_sum.h"
#include "test/unit/runtime/comm/engine.h"
#include "test/unit/runtime/comm/support.h"
#include "test/unit/runtime/memory_access.h"

#include <algorithm>

namespace trainc {
namespace {

using test::Floats;
using test::kAllGather;
using test::kAllReduce;
using test::kReduceScatter;
using test::Rank;
using test::sameBits;
using test::treeSums;

class CollectivesTest : public testing::TestWithParam<test::Job> {
protected:
  void onRanks(uint64_t bytes, const std::function<void(Rank &)> &body) const {
    test::onRanks(GetParam(), bytes, body);
  }
  uint32_t n = GetParam().grid.ranks;
};

TEST_P(CollectivesTest, AllReduceIsTheTreeSumOnEveryRank) {
  constexpr uint64_t kMaxElements = 300007;
  const std::vector<float> expected = treeSums(n, kMaxElements);
  onRanks(uint64_t{2} << 20, [&](Rank &rank) {
    for (const uint64_t elements :
         {uint64_t{0}, uint64_t{1}, uint64_t{n - 1}, uint64_t{n}, uint64_t{1000}, kMaxElements}) {
      const Floats buffer = rank.allocateValues(elements);
      rank.run(kAllReduce, buffer, buffer);
      EXPECT_TRUE(sameBits(buffer, std::span(expected).first(elements)))
          << elements << " elements on rank " << rank.number();
    }
  });
}

TEST_P(CollectivesTest, MemoryLiesBetweenGuards) {
  constexpr uint64_t kPage = 4096;
  onRanks(kPage, [](Rank &rank) {
    const std::byte *memory = rank->allocate("a page", kPage)->pointer();
    const test::MemoryProbe probe;
    EXPECT_TRUE(probe.canRead(memory) && probe.canRead(memory + kPage - 1));
    EXPECT_FALSE(probe.canRead(memory - 1));
    EXPECT_FALSE(probe.canRead(memory + kPage));
  });
}

TEST_P(CollectivesTest, ASourceApartIsKept) {
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const Floats source = rank.allocateValues(10000), sums = rank.allocate(10000);
    rank.run(kAllReduce, source, sums);
    EXPECT_TRUE(sameBits(sums, treeSums(n, 10000))) << "rank " << rank.number();
    for (uint64_t i = 0; i < source.size(); ++i)
      ASSERT_EQ(source[i], test::value(rank.number(), i));
  });
}

TEST_P(CollectivesTest, ReduceScatterThenAllGatherIsAllReduce) {
  constexpr uint64_t kMaxElements = 20000;
  const std::vector<float> sums = treeSums(n, kMaxElements * n);
  onRanks(uint64_t{3} << 20, [&](Rank &rank) {
    for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{7}, kMaxElements}) {
      const Floats source = rank.allocateValues(size * n), part = rank.allocate(size),
                   gathered = rank.allocate(size * n);
      rank.start(0, kReduceScatter, source, part);
      rank.start(1, kAllGather, part, gathered);
      rank.wait(0);
      rank.wait(1);
      const auto expected = std::span(sums).first(size * n);
      EXPECT_TRUE(sameBits(part, expected.subspan(rank.number() * size, size)))
          << "the part of rank " << rank.number();
      EXPECT_TRUE(sameBits(gathered, expected)) << "gathered on rank " << rank.number();
    }
  });
}

// As states divided between ranks are: each rank's part of a sum goes to where the gather takes it from.
TEST_P(CollectivesTest, PartsMayLieWithinAWhole) {
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const uint64_t size = 1000;
    const Floats source = rank.allocateValues(size * n), whole = rank.allocate(size * n),
                 part = whole.subspan(rank.number() * size, size);
    rank.start(0, kReduceScatter, source, part);
    rank.start(1, kAllGather, part, whole);
    rank.wait(0);
    rank.wait(1);
    EXPECT_TRUE(sameBits(whole, treeSums(n, size * n))) << "rank " << rank.number();
  });
}

// More pieces than can be in flight at a time, for engines that divide transfers; the sums are exact.
TEST_P(CollectivesTest, LargeTensors) {
  const uint64_t elements = (n <= 4 ? 6000000 : 600000) / n * n; // as many as two cores sum in a moment
  const uint64_t numbers = n * (n + 1) / 2;
  onRanks(uint64_t{100} << 20, [this, elements, numbers](Rank &rank) {
    const Floats source = rank.allocate(elements), sums = rank.allocate(elements),
                 part = rank.allocate(elements / n), gathered = rank.allocate(elements);
    test::fillWithMultiples(source, rank.number() + 1);
    rank.start(0, kAllReduce, source, sums);
    rank.start(1, kReduceScatter, source, part);
    rank.start(2, kAllGather, part, gathered);
    for (uint32_t slot = 0; slot < 3; ++slot)
      rank.wait(slot);
    const uint64_t wrong = test::countOthers(sums, numbers) + test::countOthers(gathered, numbers) +
                           test::countOthers(source, rank.number() + 1);
    EXPECT_EQ(wrong, 0U) << "elements on rank " << rank.number();
  });
}

TEST_P(CollectivesTest, GathersMoveAnyType) {
  onRanks(4096, [this](Rank &rank) {
    std::byte *buffer = rank->allocate("bytes", uint64_t{n} * 6)->pointer();
    std::fill_n(buffer + rank.number() * 6, 6, std::byte(rank.number() + 1));
    const CollectiveRange range{.source = DeviceAddress(buffer + rank.number() * 6),
                                .destination = DeviceAddress(buffer),
                                .elements = uint64_t{n} * 3,
                                .dtype = fb::DType::BF16};
    rank.run({.kind = MeetingKind::kAllGather, .ranges = std::span(&range, 1)});
    for (uint32_t i = 0; i < n * 6; ++i)
      EXPECT_EQ(buffer[i], std::byte(i / 6 + 1)) << "byte " << i << " on rank " << rank.number();
  });
}

TEST_P(CollectivesTest, HostsHearEachOther) {
  onRanks(4096, [this](Rank &rank) {
    for (uint64_t turn = 0; turn < 100; ++turn) {
      const uint64_t own = turn * 100 + rank.number();
      std::vector<uint64_t> all(n);
      const Status status =
          rank->exchange(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
      ASSERT_TRUE(status.ok()) << status.message();
      for (uint32_t peer = 0; peer < n; ++peer)
        ASSERT_EQ(all[peer], turn * 100 + peer) << "turn " << turn << " on rank " << rank.number();
    }
  });
}

// The collective of most ranks waits for rank 0, which starts it only once it has heard of theirs.
TEST_P(CollectivesTest, HostsHearEachOtherWhileCollectivesWait) {
  onRanks(4096, [this](Rank &rank) {
    const Floats buffer = rank.allocateValues(8);
    if (rank.number() != 0)
      rank.start(0, kAllReduce, buffer, buffer);
    for (uint8_t turn = 0; turn < 3; ++turn) {
      std::vector<std::byte> all(n);
      const std::byte own{turn};
      const Status status = rank->exchange(std::span(&own, 1), all);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(all, std::vector<std::byte>(n, own));
    }
    if (rank.number() == 0)
      rank.start(0, kAllReduce, buffer, buffer);
    rank.wait(0);
    EXPECT_TRUE(sameBits(buffer, treeSums(n, 8))) << "rank " << rank.number();
  });
}

// Each collective uses the result of the previous one; they are waited for in another order.
TEST_P(CollectivesTest, SeveralInFlightRunInOrder) {
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const Floats values = rank.allocateValues(uint64_t{n} * 1000), part = rank.allocate(1000),
                 buffer = rank.allocate(values.size());
    rank.start(5, kReduceScatter, values, part);
    rank.start(2, kAllGather, part, buffer);
    rank.start(9, kAllReduce, buffer, buffer);
    for (const uint32_t slot : {9, 2, 5})
      rank.wait(slot);
    const std::vector<float> first = treeSums(n, values.size());
    std::vector<float> expected(first.size());
    TreeSum(n).sum(fb::DType::F32, std::vector(n, std::as_bytes(std::span(first)).data()), fb::DType::F32,
                   std::as_writable_bytes(std::span(expected)).data(), expected.size());
    EXPECT_TRUE(sameBits(buffer, expected)) << "rank " << rank.number();
  });
}

TEST_P(CollectivesTest, RunsAgainAndAgain) {
  onRanks(4096, [this](Rank &rank) {
    const Floats buffer = rank.allocate(3);
    const uint32_t numbers = n * (n - 1) / 2;
    for (uint32_t round = 0; round < 200; ++round) {
      buffer[1] = static_cast<float>(rank.number() + round);
      rank.run(kAllReduce, buffer, buffer);
      ASSERT_EQ(buffer[1], static_cast<float>(numbers + n * round)) << "round " << round;
    }
  });
}

// A rank continues when its own wait ends, even if others still read.
TEST_P(CollectivesTest, AfterTheWaitABufferIsTheCallersAgain) {
  onRanks(uint64_t{2} << 20, [this](Rank &rank) {
    const Floats buffer = rank.allocate(uint64_t{n} * 20000), part = rank.allocate(20000);
    for (int round = 0; round < 20; ++round)
      for (const auto kind : {MeetingKind::kAllReduce, MeetingKind::kReduceScatter}) {
        std::ranges::fill(buffer, 1.0F);
        const Floats result = kind == MeetingKind::kReduceScatter ? part : buffer;
        rank.run({.kind = kind}, buffer, result);
        ASSERT_EQ(static_cast<size_t>(std::ranges::count(result, static_cast<float>(n))), result.size())
            << collectiveName(kind) << " of round " << round << " on rank " << rank.number();
        std::ranges::fill(buffer, -7.0F); // peers must not see this
        ASSERT_TRUE(rank->barrier().ok());
      }
  });
}

TEST_P(CollectivesTest, SecondsAreThoseOfWaitsAndTransfers) {
  constexpr double kRounding = 1e-9;
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const Floats buffer = rank.allocateValues(10000);
    rank.run(kAllReduce, buffer, buffer);
    const CommunicationSeconds seconds = rank->seconds().value();
    if (n > 1) {
      EXPECT_GT(seconds.inFlight, 0);
    }
    EXPECT_LE(seconds.exposed, seconds.inFlight + kRounding);
    EXPECT_LE(seconds.exposed, seconds.waited + kRounding);
  });
}

TEST_P(CollectivesTest, BytesAreThoseOfARing) {
  onRanks(uint64_t{4} << 20, [this](Rank &rank) {
    for (const uint64_t size : {1, 1000, 30001}) { // of a part
      const Floats source = rank.allocate(size * n), sums = rank.allocate(size * n),
                   part = rank.allocate(size);
      const auto moves = [&](const Collective &collective, Floats from, Floats to) {
        rank.run(collective, from, to);
        rank.expectBytesOfARing();
      };
      moves(kAllReduce, source, source);
      moves(kAllReduce, source, sums);
      moves(kReduceScatter, source, part);
      moves(kReduceScatter, source, sums.subspan(rank.number() * size, size));
      moves(kAllGather, part, sums);
      moves(kAllGather, sums.subspan(rank.number() * size, size), sums);
    }
    EXPECT_TRUE(rank->barrier().ok());
    rank.expectBytesOfARing();
  });
}

// Byte counts of plans: per rank, if no rank has more of a tensor than the others.
TEST_P(CollectivesTest, EvenPartsTakeTheSameOfEachRank) {
  onRanks(uint64_t{1} << 20, [this](Rank &rank) {
    const Floats buffer = rank.allocate(uint64_t{n} * 1600), part = rank.allocate(1600);
    const uint64_t once = uint64_t{6400} * (n - 1); // (n-1)/n of the tensor
    uint64_t expected = rank->bytesSent();
    const auto runs = [&](MeetingKind kind, Floats source, Floats destination, uint64_t times) {
      rank.run({.kind = kind}, source, destination);
      expected += times * once;
      EXPECT_EQ(rank->bytesSent(), expected) << collectiveName(kind) << " on rank " << rank.number();
    };
    runs(MeetingKind::kAllReduce, buffer, buffer, 2);
    runs(MeetingKind::kReduceScatter, buffer, part, 1);
    runs(MeetingKind::kAllGather, part, buffer, 1);
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, CollectivesTest, testing::ValuesIn(test::jobs()), test::nameOf);

} // namespace
} // namespace trainc
