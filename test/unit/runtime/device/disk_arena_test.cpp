#include "runtime/base/arena.h"
#include "runtime/device/disk_arena.h"
#include "runtime/schema/limits.h"
#include "test/unit/runtime/direct_files.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace trainc {
namespace {

constexpr uint64_t kBytes = 2 * kDiskAlignment;

class DiskArenaTest : public testing::Test {
protected:
  DiskArenaTest() { std::ranges::fill(bytes(), std::byte{7}); }
  /// Memory on a border, and as much behind it.
  std::span<std::byte> bytes() { return {memory_->data(), kBytes}; }
  std::span<std::byte> elsewhere(uint64_t beside) { return {memory_->data() + kBytes + beside, kBytes}; }
  /// Writes `source` behind the first block, and reads it back to a place `beside` the border.
  void expectThereAndBack(std::span<const std::byte> source, uint64_t beside) {
    const DeviceAddress place = disk_->address() + kDiskAlignment;
    const Status written = disk_->write(place, source), read = disk_->read(elsewhere(beside), place);
    EXPECT_TRUE(written.ok()) << written.message();
    EXPECT_TRUE(read.ok()) << read.message();
    EXPECT_THAT(elsewhere(beside), testing::Each(std::byte{7}));
  }

  Result<ArenaMapping> memory_ = ArenaMapping::create("memory", 3 * kBytes, /*reserveOnly=*/false);
  const size_t others_ = test::directFiles();
  Result<DiskArena> disk_ = DiskArena::create("disk", kDiskAlignment + kBytes);
};

TEST_F(DiskArenaTest, WhatIsAlignedGoesPastTheCache) {
  if (!test::canBeDirect())
    GTEST_SKIP() << "TMPDIR names a folder without direct I/O";
  expectThereAndBack(bytes(), 0);
  EXPECT_EQ(test::directFiles(), others_ + 1);
}

TEST_F(DiskArenaTest, WhatIsNotAlignedArrivesAllTheSame) {
  expectThereAndBack(bytes(), 4);
  EXPECT_EQ(test::directFiles(), others_);
}

} // namespace
} // namespace trainc
