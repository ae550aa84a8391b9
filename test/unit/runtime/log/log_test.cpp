#include "runtime/log/log.h"
#include "runtime/log/progress.h"

#include <gmock/gmock.h>
#include <pty.h>
#include <unistd.h>

namespace trainc {
namespace {

using testing::HasSubstr;

/// Output of a log to a file or a pseudo-terminal.
class Captured {
public:
  explicit Captured(bool terminal) {
    int writer = -1;
    if (terminal) {
      const winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
      EXPECT_EQ(::openpty(&reader_, &writer, nullptr, nullptr, &size), 0);
    } else {
      int ends[2];
      EXPECT_EQ(::pipe(ends), 0);
      reader_ = ends[0];
      writer = ends[1];
    }
    stream_ = ::fdopen(writer, "w");
  }
  ~Captured() {
    std::fclose(stream_);
    ::close(reader_);
  }

  std::FILE *stream() { return stream_; }
  /// Output since the last call. A terminal may deliver one write in pieces, so a mark is written after it,
  /// and everything up to the mark is read.
  std::string read() {
    const char mark = '\0';
    std::fputc(mark, stream_);
    std::fflush(stream_);
    std::string text;
    for (char next = 0; ::read(reader_, &next, 1) == 1 && next != mark;)
      text += next;
    return text;
  }

private:
  int reader_ = -1;
  std::FILE *stream_ = nullptr;
};

StepMetrics exampleStep(uint64_t step) {
  return {.step = step,
          .loss = 5.12348F,
          .lr = 6e-4F,
          .gradNorm = 1.2345F,
          .tokens = 1000,
          .stepSeconds = 0.05,
          .tokensPerSecond = 20000};
}

TEST(Log, AnswersAreWrittenAtAnyLevel) {
  Captured captured(/*terminal=*/false);
  Log(captured.stream(), LogLevel::kError).answer("a {}", "profile");
  EXPECT_EQ(captured.read(), "a profile\n");
  Log other(captured.stream(), LogLevel::kWarning, "[rank 2] ");
  other.answer("another");
  EXPECT_EQ(captured.read(), "") << "of several ranks one answers";
  Log(captured.stream(), LogLevel::kInfo, "[rank 2] ").answer("its own");
  EXPECT_EQ(captured.read(), "[rank 2] its own\n");
}

TEST(Log, LevelsFilterAndPrefix) {
  Captured captured(false);
  Log log(captured.stream(), LogLevel::kWarning);
  EXPECT_FALSE(log.isTerminal());
  log.info("not shown");
  log.progress("not shown");
  log.warning("disk {}", "full");
  log.error("no {}", 1);
  EXPECT_EQ(captured.read(), "warning: disk full\nerror: no 1\n");
  EXPECT_EQ(*parseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(parseLogLevel("loud").status().message(),
            "--log-level=loud: expected error, warning, info or debug");
}

TEST(Log, WhatATerminalWouldObeyIsSpelledOut) {
  Captured captured(false);
  Log log(captured.stream(), LogLevel::kInfo);
  log.info("{}: \xc2\x9b"
           "2J, \x1b[31m, \x9b, größe\nanother line",
           "a.plan");
  EXPECT_EQ(captured.read(), "a.plan: \\x9b2J, \\x1b[31m, \\x9b, größe\nanother line\n");
}

TEST(Log, ProgressStaysBelowMessages) {
  Captured captured(true);
  Log log(captured.stream(), LogLevel::kInfo);
  EXPECT_TRUE(log.isTerminal());
  log.progress("step 1");
  EXPECT_EQ(captured.read(), "\r\x1b[Kstep 1");
  log.info("message");
  EXPECT_EQ(captured.read(), "\r\x1b[Kmessage\r\nstep 1");
  log.progress(std::string(100, 'x'));
  EXPECT_EQ(captured.read(), "\r\x1b[K" + std::string(59, 'x'));
  log.endProgress();
  EXPECT_EQ(captured.read(), "\r\n");
  log.info("after");
  EXPECT_EQ(captured.read(), "after\r\n");
}

TEST(Log, APrefixBeginsEveryLineAndNothingIsRedrawn) {
  Captured file(/*terminal=*/false);
  Log(file.stream(), LogLevel::kWarning, "[rank 2] ").error("two\nlines");
  EXPECT_EQ(file.read(), "[rank 2] error: two\n[rank 2] lines\n");
  Captured terminal(/*terminal=*/true);
  Log log(terminal.stream(), LogLevel::kInfo, "[rank 2] ");
  EXPECT_FALSE(log.isTerminal());
  log.progress("step 1");
  log.info("below another rank's progress");
  EXPECT_EQ(terminal.read(), "\r\x1b[K[rank 2] below another rank's progress\r\n");
}

TEST(Progress, LineShowsSpeedAndRemainingTime) {
  Captured captured(false);
  Log log(captured.stream(), LogLevel::kInfo);
  Progress progress(log, 20, 40, "tok");
  progress.update(exampleStep(21), 1.0);
  EXPECT_EQ(captured.read(), "step 21/40  loss 5.1235  lr 6.00e-04  norm 1.23  20.0k tok/s  ETA 0.95s\n");
  progress.update(exampleStep(22), 11.0); // ten seconds a step, an evaluation in between
  EXPECT_THAT(captured.read(), HasSubstr("ETA 3:00"));
  StepMetrics last = exampleStep(40);
  last.mfu = 0.4567;
  progress.update(last, 12.0);
  EXPECT_EQ(captured.read(), "step 40/40  loss 5.1235  lr 6.00e-04  norm 1.23  20.0k tok/s  MFU 45.7%\n");
}

TEST(Progress, LineShowsWaitsOfTheStepAndWhatIsExposedOfCommunication) {
  Captured captured(false);
  Log log(captured.stream(), LogLevel::kInfo);
  StepMetrics metrics = exampleStep(40);
  metrics.communication =
      CommunicationSeconds{.waited = metrics.stepSeconds / 8, .inFlight = 0.5, .exposed = 0.125};
  Progress(log, 39, 40, "tok").update(metrics, 1.0);
  EXPECT_THAT(captured.read(), HasSubstr("tok/s  waits 12.5%  exposed 25%\n"));
}

TEST(Progress, LinesAreSparseElsewhereAndFrequentOnATerminal) {
  Captured plain(false);
  Log plainLog(plain.stream(), LogLevel::kInfo);
  Progress sparse(plainLog, 0, 1000, "tok");
  EXPECT_TRUE(sparse.due(1, 0));
  sparse.update(exampleStep(1), 0.05);
  EXPECT_FALSE(sparse.due(2, 0.1));
  EXPECT_TRUE(sparse.due(2, 30.1));
  EXPECT_TRUE(sparse.due(50, 2.5));
  EXPECT_FALSE(sparse.due(51, 2.5));
  EXPECT_TRUE(sparse.due(1000, 2.6));

  Captured screen(true);
  Log screenLog(screen.stream(), LogLevel::kInfo);
  Progress frequent(screenLog, 0, 1000, "tok");
  frequent.update(exampleStep(1), 0.05);
  EXPECT_FALSE(frequent.due(50, 0.1));
  EXPECT_TRUE(frequent.due(51, 0.2));
}

} // namespace
} // namespace trainc
