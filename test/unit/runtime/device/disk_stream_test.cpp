// Disk transfers concurrent with computation.
#include "base/arena.h"
#include "plan/schema/limits.h"
#include "runtime/device/cpu/disk_stream.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace trainc {
namespace {

constexpr uint64_t kPieceBytes = 4 * kDiskAlignment;

class DiskStreamTest : public testing::Test {
protected:
  std::span<std::byte> memory(uint64_t index) { return {memory_->data() + index * kPieceBytes, kPieceBytes}; }

  DiskStream::Number store(uint64_t index, TimeSpan *ran = nullptr) {
    return stream_.start(
        {.arena = &*disk_, .onDisk = disk_->address(), .memory = memory(index), .toDisk = true, .ran = ran});
  }
  DiskStream::Number fetch(uint64_t index, TimeSpan *ran = nullptr, uint64_t offset = 0) {
    return stream_.start({.arena = &*disk_,
                          .onDisk = disk_->address() + offset,
                          .memory = memory(index),
                          .toDisk = false,
                          .ran = ran});
  }

  Result<ArenaMapping> memory_ = ArenaMapping::create("memory", 2 * kPieceBytes, /*reserveOnly=*/false);
  Result<DiskArena> disk_ = DiskArena::create("disk", kPieceBytes);
  DiskStream stream_;
};

/// A store and the next fetch use the same memory; more transfers than the stream holds at a time.
TEST_F(DiskStreamTest, KeepsTheOrder) {
  DiskStream::Number last = 0;
  for (int i = 1; i <= 200; ++i) {
    EXPECT_TRUE(stream_.wait(last).ok());
    std::ranges::fill(memory(0), static_cast<std::byte>(i));
    store(0);
    for (int again = 0; again < 70; ++again)
      last = fetch(again % 2);
  }
  EXPECT_TRUE(stream_.wait(last).ok());
  EXPECT_THAT(memory(1), testing::Each(static_cast<std::byte>(200)));
}

TEST_F(DiskStreamTest, TellsWhenTransfersRan) {
  const double begin = steadySeconds();
  TimeSpan stored, fetched;
  store(0, &stored);
  EXPECT_TRUE(stream_.wait(fetch(1, &fetched)).ok());
  EXPECT_LE(begin, stored.begin);
  EXPECT_LT(stored.begin, stored.end);
  EXPECT_LE(stored.end, fetched.begin);
  EXPECT_LT(fetched.begin, fetched.end);
  EXPECT_LE(fetched.end, steadySeconds());
}

TEST_F(DiskStreamTest, NothingRunsAfterAFailure) {
  std::ranges::fill(memory(0), std::byte{1});
  const auto good = store(0);
  EXPECT_TRUE(stream_.wait(good).ok());
  const auto bad = fetch(1, nullptr, kPieceBytes);
  std::ranges::fill(memory(0), std::byte{2});
  const auto after = store(0);
  for (const auto number : {bad, after})
    EXPECT_THAT(stream_.wait(number).message(),
                testing::HasSubstr("cannot read 16384 bytes of arena 'disk' on disk: the file ends before"));
  EXPECT_EQ(stream_.waitForAll().message(), stream_.wait(after).message());
  EXPECT_TRUE(disk_->read(memory(1), disk_->address()).ok());
  EXPECT_THAT(memory(1), testing::Each(std::byte{1}));
}

TEST_F(DiskStreamTest, AnyThreadWaitsForAll) {
  EXPECT_TRUE(stream_.waitForAll().ok());
  std::ranges::fill(memory(0), std::byte{7});
  for (int i = 0; i < 100; ++i)
    store(0);
  std::thread([&] {
    EXPECT_TRUE(stream_.waitForAll().ok());
    EXPECT_TRUE(disk_->read(memory(1), disk_->address()).ok());
  }).join();
  EXPECT_THAT(memory(1), testing::Each(std::byte{7}));
}

} // namespace
} // namespace trainc
