#include "runtime/comm/tree_sum.h"
#include "test/unit/runtime/allocation_counter.h"
#include "test/unit/runtime/comm/support.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

namespace trainc {
namespace {

using test::Ranks;
using test::sameBits;
using test::treeSums;
using Buffers = std::vector<std::span<float>>;

constexpr uint64_t kLarge = 1000003;

class CollectivesTest : public testing::TestWithParam<uint32_t> {
protected:
  uint32_t n = GetParam();
};

TEST_P(CollectivesTest, AllReduceIsTheTreeSumOnEveryRank) {
  Ranks ranks(n, uint64_t{5} << 20);
  for (const uint64_t elements :
       {uint64_t{0}, uint64_t{1}, uint64_t{n - 1}, uint64_t{n}, uint64_t{1000}, kLarge}) {
    const Buffers buffers = ranks.allocateValues(elements);
    ranks.startAll(0, CollectiveKind::kAllReduce, buffers);
    ranks.waitAll(0);
    const std::vector<float> expected = treeSums(n, elements);
    for (uint32_t rank = 0; rank < n; ++rank)
      EXPECT_TRUE(sameBits(buffers[rank], expected)) << elements << " elements on rank " << rank;
  }
}

TEST_P(CollectivesTest, ASourceApartIsKept) {
  Ranks ranks(n, uint64_t{1} << 20);
  const Buffers sources = ranks.allocateValues(10000), sums = ranks.allocate(10000),
                copies = ranks.allocate(10000);
  ranks.startAll(0, CollectiveKind::kAllReduce, sources, sums);
  ranks.startAll(1, CollectiveKind::kBroadcast, sources, copies, n - 1);
  ranks.waitAll(1);
  for (uint32_t rank = 0; rank < n; ++rank) {
    EXPECT_TRUE(sameBits(sums[rank], treeSums(n, 10000))) << "rank " << rank;
    EXPECT_EQ(sources[rank][17], test::value(rank, 17));
    EXPECT_TRUE(sameBits(copies[rank], sources[n - 1])) << "rank " << rank;
  }
}

TEST_P(CollectivesTest, ReduceScatterThenAllGatherIsAllReduce) {
  Ranks ranks(n, uint64_t{9} << 20);
  for (const uint64_t part : {0, 1, 7, 125000}) {
    const Buffers sources = ranks.allocateValues(part * n), parts = ranks.allocate(part),
                  gathered = ranks.allocate(part * n);
    ranks.startAll(0, CollectiveKind::kReduceScatter, sources, parts);
    ranks.startAll(1, CollectiveKind::kAllGather, parts, gathered);
    ranks.waitAll(0);
    ranks.waitAll(1);
    const std::vector<float> expected = treeSums(n, part * n);
    for (uint32_t rank = 0; rank < n; ++rank) {
      EXPECT_TRUE(sameBits(parts[rank], std::span(expected).subspan(rank * part, part)))
          << "the part of rank " << rank;
      EXPECT_TRUE(sameBits(gathered[rank], expected)) << "gathered on rank " << rank;
    }
  }
}

// As states divided between ranks are: each rank's part of a sum goes to where the gather takes it from.
TEST_P(CollectivesTest, PartsMayLieWithinAWhole) {
  Ranks ranks(n, uint64_t{1} << 20);
  const uint64_t part = 1000;
  const Buffers sources = ranks.allocateValues(part * n), wholes = ranks.allocate(part * n);
  for (uint32_t rank = 0; rank < n; ++rank) {
    ranks.start(rank, 0, CollectiveKind::kReduceScatter, sources[rank],
                wholes[rank].subspan(rank * part, part));
    ranks.start(rank, 1, CollectiveKind::kAllGather, wholes[rank]);
  }
  ranks.waitAll(1);
  for (uint32_t rank = 0; rank < n; ++rank)
    EXPECT_TRUE(sameBits(wholes[rank], treeSums(n, part * n))) << "rank " << rank;
}

TEST_P(CollectivesTest, BroadcastCopiesTheRoot) {
  Ranks ranks(n, uint64_t{5} << 20);
  for (uint32_t root = 0; root < n; ++root) {
    const Buffers buffers = ranks.allocateValues(10000);
    const std::vector<float> sent(buffers[root].begin(), buffers[root].end());
    ranks.startAll(root, CollectiveKind::kBroadcast, buffers, root);
    ranks.waitAll(root);
    for (uint32_t rank = 0; rank < n; ++rank)
      EXPECT_TRUE(sameBits(buffers[rank], sent)) << "rank " << rank << " from " << root;
  }
}

TEST_P(CollectivesTest, GathersMoveAnyType) {
  Ranks ranks(n, 4096);
  std::vector<std::byte *> buffers;
  for (uint32_t rank = 0; rank < n; ++rank) {
    buffers.push_back(*ranks[rank].allocate("bytes", uint64_t{n} * 6));
    std::fill_n(buffers[rank] + rank * 6, 6, std::byte(rank + 1));
    ranks[rank].start(0, {.kind = CollectiveKind::kAllGather,
                          .dtype = fb::DType::BF16,
                          .source = buffers[rank] + rank * 6,
                          .destination = buffers[rank],
                          .elements = uint64_t{n} * 3});
  }
  ranks.waitAll(0);
  for (uint32_t rank = 0; rank < n; ++rank)
    for (uint32_t i = 0; i < n * 6; ++i)
      EXPECT_EQ(buffers[rank][i], std::byte(i / 6 + 1)) << "byte " << i << " on rank " << rank;
  EXPECT_EQ(ranks[0].bytesSent(), 6 * (n - 1));
}

// Each collective works on what the one before has left; slots come in another order.
TEST_P(CollectivesTest, SeveralInFlightRunInOrder) {
  Ranks ranks(n, uint64_t{1} << 20);
  const Buffers values = ranks.allocateValues(uint64_t{n} * 1000), parts = ranks.allocate(1000),
                buffers = ranks.allocate(values[0].size()), fresh = ranks.allocateValues(values[0].size());
  for (uint32_t rank = 0; rank < n; ++rank) {
    ranks.start(rank, 5, CollectiveKind::kReduceScatter, values[rank], parts[rank]);
    ranks.start(rank, 2, CollectiveKind::kAllGather, parts[rank], buffers[rank]);
    ranks.start(rank, 9, CollectiveKind::kAllReduce, buffers[rank]);
    ranks.start(rank, 0, CollectiveKind::kBroadcast, fresh[rank], n - 1);
  }
  for (const uint32_t slot : {0, 9, 2, 5})
    ranks.waitAll(slot);
  const std::vector<float> first = treeSums(n, buffers[0].size());
  std::vector<float> expected(first.size());
  TreeSum(n).sum(std::vector<const float *>(n, first.data()), expected.data(), expected.size());
  for (uint32_t rank = 0; rank < n; ++rank) {
    EXPECT_TRUE(sameBits(buffers[rank], expected)) << "rank " << rank;
    EXPECT_EQ(fresh[rank][17], test::value(n - 1, 17)) << "rank " << rank;
  }
}

TEST_P(CollectivesTest, ASlotIsUsedAgainAndAgain) {
  Ranks ranks(n, 4096, {.timeoutSeconds = test::kNever, .slots = 1});
  const Buffers buffers = ranks.allocate(3);
  for (uint32_t round = 0; round < 500; ++round) {
    uint32_t sum = 0;
    for (uint32_t rank = 0; rank < n; sum += rank + round, ++rank)
      buffers[rank][1] = static_cast<float>(rank + round);
    ranks.startAll(0, CollectiveKind::kAllReduce, buffers);
    ranks.waitAll(0);
    for (uint32_t rank = 0; rank < n; ++rank)
      ASSERT_EQ(buffers[rank][1], static_cast<float>(sum)) << "round " << round;
  }
}

// Here each rank is a thread, which goes on when its own wait ends, whatever the others still read.
TEST_P(CollectivesTest, AfterTheWaitABufferIsTheCallersAgain) {
  Ranks ranks(n, uint64_t{1} << 20);
  const Buffers buffers = ranks.allocate(uint64_t{n} * 20000), parts = ranks.allocate(20000);
  const auto drive = [&](uint32_t rank) {
    std::ranges::fill(buffers[rank], 1.0F);
    for (int round = 0; round < 20; ++round)
      for (const auto kind :
           {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast}) {
        const auto result = kind == CollectiveKind::kReduceScatter ? parts[rank] : buffers[rank];
        ranks.start(rank, 0, kind, buffers[rank], result);
        ASSERT_TRUE(ranks[rank].wait(0).ok());
        const float expected = kind == CollectiveKind::kBroadcast ? 1 : static_cast<float>(n);
        ASSERT_EQ(static_cast<size_t>(std::ranges::count(result, expected)), result.size())
            << collectiveName(kind) << " of round " << round << " on rank " << rank;
        std::ranges::fill(buffers[rank], -7.0F); // peers must not see this
        ASSERT_TRUE(ranks[rank].barrier().ok());
        std::ranges::fill(buffers[rank], 1.0F);
      }
  };
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < n; ++rank)
    threads.emplace_back(drive, rank);
  for (std::thread &thread : threads)
    thread.join();
}

TEST_P(CollectivesTest, BytesAreCountedAsARingWouldSendThem) {
  Ranks ranks(n, uint64_t{1} << 20);
  const Buffers buffers = ranks.allocate(uint64_t{n} * 1000), parts = ranks.allocate(1000);
  const uint64_t once = uint64_t{4000} * (n - 1); // (n-1)/n of the tensor
  uint64_t expected = 0;
  const std::pair<CollectiveKind, uint64_t> all[] = {{CollectiveKind::kAllReduce, 2},
                                                     {CollectiveKind::kReduceScatter, 1},
                                                     {CollectiveKind::kAllGather, 1},
                                                     {CollectiveKind::kBroadcast, 1},
                                                     {CollectiveKind::kBarrier, 0}};
  for (const auto &[kind, times] : all) {
    if (kind == CollectiveKind::kReduceScatter)
      ranks.startAll(0, kind, buffers, parts);
    else
      ranks.startAll(0, kind, buffers);
    ranks.waitAll(0);
    expected += times * once;
    for (uint32_t rank = 0; rank < n; ++rank)
      EXPECT_EQ(ranks[rank].bytesSent(), expected) << collectiveName(kind) << " on rank " << rank;
  }
}

TEST_P(CollectivesTest, NothingIsAllocatedWhileTheyRun) {
  Ranks ranks(n, uint64_t{1} << 20);
  const Buffers buffers = ranks.allocateValues(uint64_t{n} * 5000), parts = ranks.allocate(5000);
  ranks.startAll(0, CollectiveKind::kBarrier, buffers);
  ranks.waitAll(0); // by now every progress thread runs; its start may allocate
  bool ok = true;
  const uint64_t allocations = test::countAllocations([&] {
    for (int round = 0; round < 3; ++round) {
      ranks.startAll(0, CollectiveKind::kAllReduce, buffers);
      ranks.startAll(1, CollectiveKind::kReduceScatter, buffers, parts);
      ranks.startAll(2, CollectiveKind::kAllGather, buffers);
      ranks.startAll(3, CollectiveKind::kBroadcast, buffers);
      for (uint32_t slot = 0; slot < 4; ++slot)
        for (uint32_t rank = 0; rank < n; ++rank)
          ok = ranks[rank].wait(slot).ok() && ok;
    }
  });
  EXPECT_TRUE(ok);
  EXPECT_EQ(allocations, 0U);
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollectivesTest, testing::Values(1U, 2U, 3U, 4U, 5U, 8U));

TEST(Collectives, StartReturnsBeforeAPeerHasArrived) {
  Ranks ranks(2, 4096);
  const Buffers buffers = ranks.allocateValues(100);
  for (uint32_t slot = 0; slot < 10; ++slot)
    ranks.start(0, slot, CollectiveKind::kAllReduce, buffers[0]);
  EXPECT_EQ(ranks[0].bytesSent(), 0U) << "none is done without the peer";
  for (uint32_t slot = 0; slot < 10; ++slot)
    ranks.start(1, slot, CollectiveKind::kAllReduce, buffers[1]);
  ranks.waitAll(9);
  EXPECT_EQ(ranks[0].bytesSent(), 4000U);
}

TEST(Collectives, DescribeThemselves) {
  EXPECT_EQ(describe({.kind = CollectiveKind::kAllReduce, .elements = 7}), "all-reduce of 7 f32");
  EXPECT_EQ(describe({.kind = CollectiveKind::kBroadcast, .dtype = fb::DType::U8, .elements = 8, .root = 1}),
            "broadcast of 8 u8 from place 1");
  EXPECT_EQ(describe({.kind = CollectiveKind::kBarrier}), "barrier");
  EXPECT_EQ(describe({.kind = CollectiveKind::kAllGather, .group = fb::Group::Shard, .elements = 4}),
            "all-gather of 4 f32 over the shard group");
  EXPECT_EQ(describe({.kind = CollectiveKind::kBarrier, .group = fb::Group::Replica}),
            "barrier over the replica group");
}

TEST(Collectives, BytesOfUnevenPartsAreRoundedDown) {
  EXPECT_EQ(ringBytes({.kind = CollectiveKind::kAllReduce, .elements = 10}, 3), 53U); // 53 1/3
  EXPECT_EQ(ringBytes({.kind = CollectiveKind::kAllReduce, .elements = 10}, 1), 0U);
}

} // namespace
} // namespace trainc
