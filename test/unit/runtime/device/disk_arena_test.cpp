#include "base/arena.h"
#include "plan/schema/limits.h"
#include "runtime/device/disk_arena.h"
#include "test/unit/runtime/direct_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace trainc {
namespace {

constexpr uint64_t kBytes = 2 * kDiskAlignment;

class DiskArenaTest : public testing::Test {
protected:
  DiskArenaTest() { std::ranges::fill(bytes(), std::byte{7}); }
  /// Aligned memory; elsewhere() gives unaligned memory after it.
  std::span<std::byte> bytes() { return {memory_->data(), kBytes}; }
  std::span<std::byte> elsewhere(uint64_t beside) { return {memory_->data() + kBytes + beside, kBytes}; }
  /// Writes `source` after the first block, and reads it back with the misalignment `beside`.
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

/// Faults injected by DISK_FAULTS into ten written and ten read pieces, in order.
struct InjectedFault {
  bool fails = false, ofRead = false;
  std::string_view message;
};

InjectedFault injectedFault() {
  const char *const faults = std::getenv("DISK_FAULTS");
  const std::string_view text = faults ? faults : "", kind = text.substr(0, text.find(' '));
  if (kind == "error" || kind == "full")
    return {true, std::atoi(faults + kind.size()) > 10,
            kind == "error" ? "Input/output error" : "No space left on device"};
  return kind == "refuse" ? InjectedFault{true, false, "No such device or address"} : InjectedFault{};
}

/// Also run with a disk that fails: see test/end_to_end/disk_faults.c.
TEST_F(DiskArenaTest, ManyPiecesArriveWhereTheyBelong) {
  constexpr uint64_t large = (uint64_t{37} << 20) + kDiskAlignment; // more pieces than can be in flight
  auto memory = ArenaMapping::create("large", 2 * large, /*reserveOnly=*/false);
  auto disk = DiskArena::create("large", large);
  ASSERT_TRUE(memory.ok() && disk.ok());
  const std::span<std::byte> there(memory->data(), large), back(memory->data() + large, large);
  for (uint64_t i = 0; i < large; ++i)
    there[i] = static_cast<std::byte>(i * 7 + i / 4099);
  const Status written = disk->write(disk->address(), there), read = disk->read(back, disk->address());
  const InjectedFault fault = injectedFault();
  const auto failure = [&](std::string_view verb) {
    return fmt::format("cannot {} {} bytes of arena 'large' on disk: {}", verb, large, fault.message);
  };
  EXPECT_EQ(written.message(), fault.fails && !fault.ofRead ? failure("write") : "");
  EXPECT_EQ(read.message(), fault.fails && fault.ofRead ? failure("read") : "");
  if (fault.fails) { // the disk is as good as before
    EXPECT_TRUE(disk->write(disk->address(), there).ok() && disk->read(back, disk->address()).ok());
  }
  EXPECT_TRUE(std::ranges::equal(there, back));
}

TEST_F(DiskArenaTest, BytesOfAnyPlaceLeaveTheirNeighboursAlone) {
  ASSERT_TRUE(disk_->write(disk_->address() + kDiskAlignment, bytes()).ok());
  const std::vector<std::byte> odd(kDiskAlignment + 10, std::byte{9});
  const DeviceAddress place = disk_->address() + kDiskAlignment + 5;
  ASSERT_TRUE(disk_->writeBytes(place, odd).ok());
  std::vector<std::byte> found(odd.size() + 2);
  ASSERT_TRUE(disk_->readBytes(found, disk_->address() + kDiskAlignment + 4).ok());
  EXPECT_EQ(found.front(), std::byte{7});
  EXPECT_EQ(found.back(), std::byte{7});
  EXPECT_THAT(std::span(found).subspan(1, odd.size()), testing::Each(std::byte{9}));
  if (test::canBeDirect()) {
    EXPECT_EQ(test::directFiles(), others_ + 1) << "a transfer was not as direct I/O asks";
  }
}

/// Ranks' threads restore neighbouring tensors at the same time.
TEST_F(DiskArenaTest, NeighboursMayBeWrittenAtTheSameTime) {
  constexpr uint64_t each = 100, writers = 4;
  std::vector<std::thread> threads;
  for (uint64_t writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      const std::vector<std::byte> own(each, static_cast<std::byte>(writer + 1));
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(disk_->writeBytes(disk_->address() + writer * each, own).ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<std::byte> found(writers * each);
  ASSERT_TRUE(disk_->readBytes(found, disk_->address()).ok());
  for (uint64_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], static_cast<std::byte>(i / each + 1)) << i;
}

TEST_F(DiskArenaTest, AFolderThatIsNotThereIsNamed) {
  const auto disk = DiskArena::create("moments", 1, "/nowhere/at/all");
  ASSERT_EQ(disk.status().code(), StatusCode::kInvalidInput);
  EXPECT_THAT(disk.status().message(),
              testing::HasSubstr("cannot make arena 'moments' of 1 bytes in /nowhere/at/all: No such file or "
                                 "directory; name another folder with --offload-dir"));
}

/// Two reasons to fail: an invalid folder, and a disk without enough space.
TEST_F(DiskArenaTest, NoFolderHelpsIfNoFileMayBeOpened) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status status = DiskArena::create("disk", kBytes, "/tmp").status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), StatusCode::kFailed);
  EXPECT_THAT(status.message(), testing::EndsWith("raise the number of files that may be open (ulimit -n)"));
}

TEST_F(DiskArenaTest, TheFolderForTemporaryFilesIsChangedByTmpdir) {
  const auto disk = DiskArena::create("moments", uint64_t{1} << 62);
  ASSERT_EQ(disk.status().code(), StatusCode::kFailed);
  EXPECT_THAT(disk.status().message(), testing::EndsWith("; set TMPDIR to another folder"));
}

/// The file of `disk`: it has no name, and a byte more than the arena. Other open files may have no name,
/// too.
std::string unnamedFile() {
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    const bool hasName =
        !std::filesystem::read_symlink(entry.path(), closed).native().ends_with(" (deleted)");
    if (!hasName && std::filesystem::file_size(entry.path(), closed) == 12289)
      return entry.path();
  }
  return {};
}

/// After a truncation, later writes would make the lost bytes read as zeros.
TEST_F(DiskArenaTest, AFileThatWasCutIsNeitherReadNorWritten) {
  const DeviceAddress later = disk_->address() + kDiskAlignment;
  ASSERT_TRUE(disk_->write(disk_->address(), bytes()).ok());
  ASSERT_EQ(truncate(unnamedFile().c_str(), 0), 0);
  EXPECT_EQ(disk_->write(later, bytes()).message(), "cannot write 8192 bytes of arena 'disk' on disk: its "
                                                    "file was cut: it has 0 bytes, 12289 were expected");
  EXPECT_EQ(disk_->read(elsewhere(0), disk_->address()).message(),
            "cannot read 8192 bytes of arena 'disk' on disk: its file was cut: it has 0 bytes, 12289 were "
            "expected");
}

/// A write of the arena's end that began before the truncation leaves a file of the arena's size, with zeros.
TEST_F(DiskArenaTest, AFileThatWasCutAndWrittenToItsEndIsNotReadEither) {
  const std::string file = unnamedFile();
  ASSERT_EQ(truncate(file.c_str(), 0), 0);
  ASSERT_EQ(truncate(file.c_str(), 12288), 0);
  EXPECT_EQ(disk_->read(elsewhere(0), disk_->address()).message(),
            "cannot read 8192 bytes of arena 'disk' on disk: its file was cut: it has 12288 bytes, 12289 "
            "were expected");
}

TEST_F(DiskArenaTest, WhatIsNotAlignedArrivesAllTheSame) {
  expectThereAndBack(bytes(), 4);
  EXPECT_EQ(test::directFiles(), others_);
}

} // namespace
} // namespace trainc
