#include "base/print.h"

#include "base/plain_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace trainc {
namespace {

TEST(Print, ArrivesAtOnce) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE *stream = ::fdopen(ends[1], "w");
  ASSERT_NE(stream, nullptr);
  EXPECT_TRUE(put(stream, "text"));
  char read[8] = {};
  EXPECT_EQ(::read(ends[0], read, sizeof(read)), 4);
  EXPECT_STREQ(read, "text");
  std::fclose(stream);
  ::close(ends[0]);
}

TEST(Print, LongWordsOfMessagesAreShortened) {
  EXPECT_EQ(shownMessage("--steps: found '" + std::string(50'000, '9') + "'; give less\n"),
            "--steps: found '" + std::string(63, '9') + "...(49923 bytes)..." + std::string(14, '9') +
                "'; give less\n");
  const std::string path = "/" + std::string(4000, 'p') + ": no such file";
  EXPECT_EQ(shownMessage(path), path);
  std::string letters; // of two bytes each
  for (int i = 0; i < 5000; ++i)
    letters += "\u00e9";
  EXPECT_TRUE(isUtf8(shownMessage(letters)));
  EXPECT_TRUE(isUtf8(shownMessage("x" + letters)));
  EXPECT_EQ(shownMessage(""), "");
  EXPECT_EQ(shownMessage("\x1b[1m a\tb "), "\\x1b[1m a\tb ");
}

TEST(Print, AFullStreamIsNoticedAndThrowsNothing) {
  std::FILE *full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  EXPECT_FALSE(put(full, "text"));
  std::fclose(full);
}

/// In a process of its own: it replaces standard output.
TEST(PrintDeathTest, LostOutputIsAFailure) {
  const auto print = [](const char *device) {
    if (std::freopen(device, "w", stdout) == nullptr)
      std::_Exit(3);
    const Status status = printOutput("text");
    put(stderr, status.message());
    std::_Exit(status.exitCode());
  };
  EXPECT_EXIT(print("/dev/full"), testing::ExitedWithCode(1),
              "cannot write to standard output: No space left on device");
  EXPECT_EXIT(print("/dev/null"), testing::ExitedWithCode(0), "");
}

TEST(PrintDeathTest, ClosedStreamsAreClaimed) {
  const auto claim = [] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    claimStandardStreams();
    const int next = ::open("/dev/null", O_RDONLY);
    std::_Exit(next > STDERR_FILENO && !printOutput("text").ok() ? 0 : 1);
  };
  EXPECT_EXIT(claim(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace trainc
