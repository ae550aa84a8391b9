#include "plan/schema/limits.h"
#include "test/unit/runtime/comm/support.h"
#include "test/unit/runtime/no_threads.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::HasSubstr;

TEST(LocalGroup, NeedsARank) {
  const Status status = LocalGroup::create(Mesh({{"shard", 0}}), 4096).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidInput);
  EXPECT_EQ(status.message(), "mesh: expected 1 to 65536 ranks along axis 'shard', found 0");
}

TEST(LocalGroup, RefusesMoreThanThereIs) {
  for (const uint64_t bytes : {uint64_t{1} << 50, ~uint64_t{0}}) {
    const auto group = LocalGroup::create(Mesh({{"shard", 2}}), bytes);
    EXPECT_EQ(group.status().code(), StatusCode::kFailed);
    EXPECT_THAT(group.status().message(),
                HasSubstr(fmt::format("cannot share {} bytes for each of 2", bytes)));
  }
}

TEST(LocalGroup, MemoryIsZeroedAlignedAndApart) {
  test::Ranks ranks(3, 2 * kArenaAlignment);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    std::byte *first = ranks[rank].allocate("first", 100)->pointer(),
              *second = ranks[rank].allocate("second", 3968)->pointer();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kArenaAlignment, 0U);
    EXPECT_EQ(second, first + kArenaAlignment);
    EXPECT_TRUE(
        std::all_of(first, first + 2 * kArenaAlignment, [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(first, 2 * kArenaAlignment, std::byte{0xff}); // another rank would see these bytes
  }
}

TEST(LocalGroup, SaysWhatDoesNotFit) {
  test::Ranks ranks(1, 8192);
  EXPECT_TRUE(ranks[0].allocate("weights", 4000).ok());
  const auto more = ranks[0].allocate("gradients", 4097);
  EXPECT_EQ(more.status().code(), StatusCode::kFailed);
  EXPECT_EQ(more.status().message(),
            "cannot allocate 4097 bytes for 'gradients' on rank 0: 4096 of its 8192 shared bytes are left");
  EXPECT_TRUE(ranks[0].allocate("gradients", 4096).ok());
}

TEST(LocalGroup, KnowsItsRanks) {
  test::Ranks ranks(3, 4096);
  EXPECT_EQ(ranks[2].rank(), 2U);
  EXPECT_EQ(ranks[2].ranks(), 3U);
}

TEST(LocalGroup, CommunicatorsMayOutliveIt) {
  std::unique_ptr<Communicator> rank;
  {
    auto group = LocalGroup::create(Mesh({{"shard", 1}}), 4096);
    rank = std::move(*group->communicator(0));
  }
  *rank->allocate("x", 64)->pointer() = std::byte{1};
  EXPECT_TRUE(rank->barrier().ok());
}

TEST(LocalGroup, SaysWhenNoThreadStarts) {
  auto two = LocalGroup::create(Mesh({{"shard", 2}}), 4096),
       one = LocalGroup::create(Mesh({{"shard", 1}}), 4096);
  const test::NoThreads none;
  EXPECT_EQ(two->communicator(1).status().code(), StatusCode::kFailed);
  EXPECT_TRUE(one->communicator(0).ok()) << "one rank needs none";
}

} // namespace
} // namespace trainc
