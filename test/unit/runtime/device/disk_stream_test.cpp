// Transfers beside what the CPU computes.
#include "runtime/base/arena.h"
#include "runtime/device/cpu/disk_stream.h"
#include "runtime/schema/limits.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace trainc {
namespace {

constexpr uint64_t kPieceBytes = 4 * kDiskAlignment;

class DiskStreamTest : public testing::Test {
protected:
  std::span<std::byte> memory(uint64_t index) { return {memory_->data() + index * kPieceBytes, kPieceBytes}; }

  Result<ArenaMapping> memory_ = ArenaMapping::create("memory", 2 * kPieceBytes, /*reserveOnly=*/false);
  Result<DiskArena> disk_ = DiskArena::create("disk", kPieceBytes);
  DiskStream stream_;
};

/// The memory of a store is that of the fetch behind it: more transfers than the stream holds at a time.
TEST_F(DiskStreamTest, KeepsTheOrder) {
  DiskStream::Number last = 0;
  for (int i = 1; i <= 200; ++i) {
    EXPECT_TRUE(stream_.wait(last).ok());
    std::ranges::fill(memory(0), static_cast<std::byte>(i));
    stream_.start(*disk_, disk_->address(), memory(0), /*toDisk=*/true);
    for (int again = 0; again < 70; ++again)
      last = stream_.start(*disk_, disk_->address(), memory(again % 2), /*toDisk=*/false);
  }
  EXPECT_TRUE(stream_.wait(last).ok());
  EXPECT_THAT(memory(1), testing::Each(static_cast<std::byte>(200)));
}

TEST_F(DiskStreamTest, TellsWhenTransfersRan) {
  const double begin = steadySeconds();
  TimeSpan store, fetch;
  stream_.start(*disk_, disk_->address(), memory(0), /*toDisk=*/true, &store);
  EXPECT_TRUE(
      stream_.wait(stream_.start(*disk_, disk_->address(), memory(1), /*toDisk=*/false, &fetch)).ok());
  EXPECT_LE(begin, store.begin);
  EXPECT_LT(store.begin, store.end);
  EXPECT_LE(store.end, fetch.begin);
  EXPECT_LT(fetch.begin, fetch.end);
  EXPECT_LE(fetch.end, steadySeconds());
}

TEST_F(DiskStreamTest, NothingRunsBehindAFailure) {
  std::ranges::fill(memory(0), std::byte{1});
  const auto good = stream_.start(*disk_, disk_->address(), memory(0), /*toDisk=*/true);
  EXPECT_TRUE(stream_.wait(good).ok());
  const auto bad = stream_.start(*disk_, disk_->address() + kPieceBytes, memory(1), /*toDisk=*/false);
  std::ranges::fill(memory(0), std::byte{2});
  const auto after = stream_.start(*disk_, disk_->address(), memory(0), /*toDisk=*/true);
  for (const auto number : {bad, after})
    EXPECT_THAT(stream_.wait(number).message(),
                testing::HasSubstr("cannot read 16384 bytes of arena 'disk' on disk: the file ends before"));
  EXPECT_TRUE(disk_->read(memory(1), disk_->address()).ok());
  EXPECT_THAT(memory(1), testing::Each(std::byte{1}));
}

} // namespace
} // namespace trainc
