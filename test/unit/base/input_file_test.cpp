#include "base/file.h"
#include "base/input_file.h"
#include "base/mapped_file.h"

#include <array>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace trainc {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder with a file of ten digits.
class InputFileTest : public testing::Test {
protected:
  InputFileTest() {
    std::string pattern = (fs::temp_directory_path() / "trainc-base-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    file_ = folder_ / "digits";
    std::ofstream(file_) << "0123456789";
  }
  ~InputFileTest() override { fs::remove_all(folder_); }

  fs::path folder_, file_;
};

TEST_F(InputFileTest, ReadsWhereAsked) {
  const auto file = InputFile::open(file_);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->size(), 10U);
  std::array<char, 3> text{};
  ASSERT_TRUE(file->read(4, std::as_writable_bytes(std::span(text))).ok());
  EXPECT_EQ(std::string_view(text.data(), 3), "456");
  EXPECT_EQ(*readWholeFile(file_), "0123456789");
}

TEST_F(InputFileTest, WhatIsTooLargeIsNotReadWhole) {
  EXPECT_TRUE(readWholeFile(file_, 10).ok());
  const Status status = readWholeFile(file_, 9).status();
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(),
              HasSubstr("digits: expected at most 9 bytes, found 10; is it the right file?"));
  fs::resize_file(file_, kMaxTextBytes + 1); // has holes
  EXPECT_FALSE(readWholeFile(file_).ok());
}

TEST_F(InputFileTest, AFileThatBecomesShorterIsAnError) {
  const auto file = InputFile::open(file_);
  ASSERT_TRUE(file.ok());
  fs::resize_file(file_, 5);
  std::array<std::byte, 3> bytes{};
  EXPECT_TRUE(file->read(2, bytes).ok());
  const Status status = file->read(4, bytes);
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(),
              HasSubstr("digits: byte 5: the file was truncated while in use; it had 10 bytes"));
}

TEST_F(InputFileTest, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0666), 0);
  for (const fs::path &path : {folder_ / "pipe", folder_, fs::path("/dev/zero")}) {
    EXPECT_THAT(InputFile::open(path).status().message(), HasSubstr("expected a regular file")) << path;
    EXPECT_EQ(MappedFile::open(path).status().exitCode(), 2) << path;
  }
}

TEST_F(InputFileTest, LostPagesOfAMappingAreZerosAndTold) {
  surviveLostPages();
  const size_t page = 4096;
  fs::resize_file(file_, 3 * page);
  const auto whole = MappedFile::open(file_), other = MappedFile::open(file_);
  ASSERT_TRUE(whole.ok() && other.ok());
  fs::resize_file(file_, page);
  EXPECT_EQ(static_cast<char>(whole->bytes()[0]), '0');
  EXPECT_FALSE(whole->isLost());
  for (const size_t lost : {page + 1, 2 * page, 3 * page - 1})
    EXPECT_EQ(whole->bytes()[lost], std::byte{0});
  EXPECT_TRUE(whole->isLost());
  EXPECT_FALSE(other->isLost()) << "nobody has read there";
  EXPECT_THAT(lostPages("w").message(), HasSubstr("w: the file became shorter"));
}

Status write(const fs::path &path) {
  const std::string_view text = "new";
  const std::array parts = {std::as_bytes(std::span(text))};
  return writeFileAtomically(path, parts);
}

TEST_F(InputFileTest, WritingReplacesNothingButFiles) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0666), 0);
  for (const fs::path &path : {folder_ / "pipe", folder_, fs::path("/dev/null")}) {
    const Status status = write(path);
    EXPECT_EQ(status.exitCode(), 2) << path;
    EXPECT_THAT(status.message(), HasSubstr("cannot be replaced by a file")) << path;
  }
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(InputFileTest, WritingFollowsSymbolicLinks) {
  fs::create_symlink(file_, folder_ / "link");
  fs::create_symlink("later", folder_ / "dangling");
  ASSERT_TRUE(write(folder_ / "link").ok());
  ASSERT_TRUE(write(folder_ / "dangling").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link") && fs::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(*readWholeFile(file_), "new");
  EXPECT_EQ(*readWholeFile(folder_ / "later"), "new");
}

} // namespace
} // namespace trainc
