#include "base/clock.h"
#include "plan/schema/limits.h"
#include "runtime/comm/local/shared_memory.h"
#include "test/unit/runtime/asleep.h"
#include "test/unit/runtime/comm/support.h"

#include <array>
#include <atomic>
#include <functional>
#include <gmock/gmock.h>
#include <thread>

namespace trainc {
namespace {

using test::Ranks;
using testing::HasSubstr;

/// Starts an all-reduce of 8 floats on the ranks given.
void startOn(Ranks &ranks, std::initializer_list<uint32_t> started, uint32_t slot) {
  const auto buffers = ranks.allocate(8);
  for (const uint32_t rank : started)
    ranks.start(rank, slot, MeetingKind::kAllReduce, buffers[rank]);
}

void expectFailure(const Status &status, const std::string &message) {
  EXPECT_EQ(status.code(), StatusCode::kFailed);
  EXPECT_EQ(status.message(), message);
}

TEST(CommFailure, APeerThatFailsEndsTheWaitOfAll) {
  Ranks ranks(3, 4096);
  startOn(ranks, {0, 2}, 4);
  ranks[1].fail("no space left on device");
  expectFailure(ranks.wait(0, 4), "rank 0: all-reduce of 8 f32 cannot be completed: rank 1 failed: no "
                                  "space left on device");
  expectFailure(ranks.wait(2, 4), "rank 2: all-reduce of 8 f32 cannot be completed: rank 1 failed: no "
                                  "space left on device");
}

TEST(CommFailure, ASupervisorEndsAWaitInProgress) {
  Ranks ranks(2, 4096);
  std::atomic<pid_t> waits{0};
  Status status;
  std::thread rank([&] {
    startOn(ranks, {0}, 0);
    waits = ::gettid();
    status = ranks.wait(0, 0);
  });
  while (waits == 0)
    std::this_thread::yield();
  test::waitUntilAsleep(waits);
  ranks.group().fail(1, "killed by signal 9");
  rank.join();
  EXPECT_THAT(status.message(), HasSubstr("rank 1 failed: killed by signal 9"));
}

TEST(CommFailure, ABarrierFailsToo) {
  Ranks ranks(2, 4096);
  ranks[1].fail("out of memory");
  expectFailure(ranks[0].barrier(), "rank 0: barrier cannot be completed: rank 1 failed: out of memory");
}

TEST(CommFailure, APeerThatNeverArrivesIsNamed) {
  Ranks ranks(4, 4096, {.timeoutSeconds = 2});
  startOn(ranks, {0, 1, 3}, 7);
  for (const uint32_t rank : {0U, 1U, 3U})
    expectFailure(ranks.wait(rank, 7),
                  fmt::format("rank {}: all-reduce of 8 f32 cannot be completed: rank 2 failed: it did "
                              "not arrive within 2 s: it has died, hangs or is stopped",
                              rank));
}

/// A rank that waits looks every 20 ms: for longer than a timeout of 1 s, also that of all ranks that wait.
constexpr uint64_t kLooks = 100;

TEST(CommFailure, APeerAtWorkIsWaitedFor) {
  Ranks ranks(2, 4096, {.timeoutSeconds = 1});
  const auto buffers = ranks.allocate(8);
  ranks.start(0, 0, MeetingKind::kAllReduce, buffers[0]);
  test::workWhileOneLooks(kLooks, [&] { ranks[1].noteProgress(); });
  ranks.start(1, 0, MeetingKind::kAllReduce, buffers[1]);
  ranks.waitAll(0);
}

TEST(CommFailure, ARankThatTakesItsOwnTimeIsWaitedFor) {
  Ranks ranks(2, 4096, {.timeoutSeconds = 1});
  const auto buffers = ranks.allocate(8);
  ranks.start(0, 0, MeetingKind::kAllReduce, buffers[0]);
  {
    const Communicator::LocalWait time(&ranks[1]);
    test::workWhileOneLooks(kLooks, [] {});
  }
  ranks.start(1, 0, MeetingKind::kAllReduce, buffers[1]);
  ranks.waitAll(0);
  ranks.start(0, 0, MeetingKind::kAllReduce, buffers[0]);
  EXPECT_THAT(ranks.wait(0, 0).message(), HasSubstr("rank 1 failed: it did not arrive within 1 s"));
}

// Neither rank ever receives the message, and the wait does not count as own time.
TEST(CommFailure, AnExchangeIsNobodysOwnTime) {
  Ranks ranks(2, 4096, {.timeoutSeconds = 1});
  Status exchanged;
  std::thread other([&] {
    const Communicator::LocalWait time(&ranks[1]);
    const std::byte own{1};
    std::array<std::byte, 2> all{};
    exchanged = ranks[1].exchange(std::span(&own, 1), all);
  });
  EXPECT_THAT(ranks[0].barrier().message(), HasSubstr("it waits for ranks that wait for it"));
  other.join();
  EXPECT_THAT(exchanged.message(), HasSubstr("it waits for ranks that wait for it"));
}

TEST(CommFailure, AGroupThatFailedStaysSoForTheFirstReason) {
  Ranks ranks(2, 2 * kArenaAlignment);
  ranks[1].fail("first");
  ranks[0].fail("second");
  startOn(ranks, {0, 1}, 0);
  EXPECT_THAT(ranks.wait(0, 0).message(), HasSubstr("rank 1 failed: first"));
  startOn(ranks, {0, 1}, 1);
  EXPECT_THAT(ranks.wait(1, 1).message(), HasSubstr("rank 1 failed: first"));
  EXPECT_EQ(ranks[0].bytesSent(), 0U);
}

TEST(CommFailure, ALongReasonIsCut) {
  Ranks ranks(2, 4096);
  ranks[1].fail(std::string(1000, 'x'));
  const std::string message = ranks[0].barrier().message();
  EXPECT_THAT(message, HasSubstr(std::string(200, 'x')));
  EXPECT_LT(message.size(), 400U);
}

TEST(CommFailure, ManyFailAtOnce) {
  Ranks ranks(2, 4096);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 16; ++i)
    threads.emplace_back([&, i] { ranks.group().fail(1, fmt::format("reason {}.", i)); });
  for (std::thread &thread : threads)
    thread.join();
  const std::string message = ranks[0].barrier().message();
  EXPECT_THAT(message, testing::ContainsRegex("rank 1 failed: reason [0-9]+\\.$"));
  EXPECT_EQ(ranks[1].barrier().message().substr(8), message.substr(8)) << "all name the same";
}

// As many ranks fail at once as there are records, and none has published its reason yet.
TEST(CommFailure, OneMoreThanCanGiveAReason) {
  auto memory = SharedMemory::create(Mesh({{"shard", 2}}), 4096);
  ASSERT_TRUE(memory.ok());
  ControlBlock &control = (*memory)->control();
  control.claimed = static_cast<uint32_t>(control.failures.size());
  (*memory)->fail(1, "out of memory");
  EXPECT_TRUE((*memory)->hasFailed());
  EXPECT_EQ((*memory)->failure(), "rank 1 failed, as others did at the same time");
}

TEST(CommFailure, ARankThatEndsTooEarlyIsNamed) {
  Ranks ranks(2, 4096);
  startOn(ranks, {0}, 0);
  ranks.end(0);
  EXPECT_THAT(ranks[1].barrier().message(), HasSubstr("rank 0 failed: it ended before its collectives"));
}

TEST(CommFailure, ARankMayEndWhenItsCollectivesHave) {
  Ranks ranks(2, 4096);
  startOn(ranks, {0, 1}, 0);
  EXPECT_TRUE(ranks.wait(0, 0).ok());
  ranks.end(0);
  EXPECT_TRUE(ranks.wait(1, 0).ok());
}

TEST(CommFailure, WhoWaitsForARankThatHasEndedHearsSoAtOnce) {
  Ranks ranks(3, 4096, {.timeoutSeconds = 600});
  startOn(ranks, {0, 1, 2}, 0);
  ranks.waitAll(0);
  ranks.end(1);
  for (const uint32_t rank : {0U, 2U})
    EXPECT_THAT(ranks[rank].barrier().message(),
                HasSubstr("rank 1 failed: it has ended its run, without an error"));
}

TEST(CommFailure, PlansThatDifferAreFound) {
  Ranks ranks(3, 4096);
  const auto buffers = ranks.allocate(6);
  for (const uint32_t rank : {0U, 2U})
    ranks.start(rank, 0, MeetingKind::kAllReduce, buffers[rank]);
  ranks.start(1, 0, MeetingKind::kAllGather, buffers[1].subspan(3));
  for (uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_THAT(ranks.wait(rank, 0).message(),
                HasSubstr("rank 1 failed: its plan differs: it started all-gather of 3 f32 from byte 16 to "
                          "byte 12 where rank 0 started all-reduce of 6 f32 from byte 0 to byte 0"));
}

TEST(CommFailure, TheRangeThatDiffersIsNamed) {
  std::array<std::array<CollectiveRange, 2>, 2> ranges;
  Ranks ranks(2, 2 * kArenaAlignment);
  const auto a = ranks.allocate(16), b = ranks.allocate(16);
  for (const uint32_t rank : {0U, 1U}) {
    const std::span<float> second = b[rank].subspan(rank, 8);
    ranges[rank] = {test::rangeOf(a[rank], a[rank]), test::rangeOf(second, second)};
    ranks.start(rank, 0, Collective{.kind = MeetingKind::kAllReduce, .ranges = ranges[rank]});
  }
  EXPECT_THAT(
      ranks.wait(0, 0).message(),
      HasSubstr("rank 1 failed: its plan differs: it started all-reduce of 24 f32 in 2 ranges, range 1 "
                "from byte 4100 to byte 4100 where rank 0 started all-reduce of 24 f32 in 2 ranges, range 1 "
                "from byte 4096 to byte 4096"));
}

TEST(CommFailure, RangesOfOtherSizesAreFound) {
  std::array<std::array<CollectiveRange, 2>, 2> ranges;
  Ranks ranks(2, 2 * kArenaAlignment);
  const auto a = ranks.allocate(16), b = ranks.allocate(16);
  for (const uint32_t rank : {0U, 1U}) {
    const size_t first = 8 - rank, second = 8 + rank; // as many together
    ranges[rank] = {test::rangeOf(a[rank].first(first), a[rank].first(first)),
                    test::rangeOf(b[rank].first(second), b[rank].first(second))};
    ranks.start(rank, 0, Collective{.kind = MeetingKind::kAllReduce, .ranges = ranges[rank]});
  }
  EXPECT_THAT(ranks.wait(0, 0).message(), HasSubstr("rank 1 failed: its plan differs"));
}

TEST(CommFailure, PlansWithOtherAddressesAreFound) {
  for (const auto kind : {MeetingKind::kAllReduce, MeetingKind::kReduceScatter, MeetingKind::kAllGather}) {
    Ranks ranks(2, 2 * kArenaAlignment);
    const auto a = ranks.allocate(16), b = ranks.allocate(16);
    ranks.start(0, 0, kind, a[0], b[0]);
    ranks.start(1, 0, kind, a[1], b[1].subspan(1));
    EXPECT_THAT(ranks.wait(0, 0).message(), HasSubstr("rank 1 failed: its plan differs"))
        << collectiveName(kind);
    EXPECT_THAT(ranks.wait(1, 0).message(), HasSubstr("from byte 0 to byte 4100"));
  }
}

/// Calls noteWait() of the ranks in turn until it fails on one of them, or for the seconds given.
Status waitElsewhere(
    Ranks &ranks, std::initializer_list<uint32_t> waiting, double seconds,
    const std::function<void()> &meanwhile = [] {}) {
  const double end = steadySeconds() + seconds;
  for (bool begins = true; steadySeconds() < end; begins = false) {
    for (const uint32_t rank : waiting)
      TRAINC_RETURN_IF_ERROR(ranks[rank].noteWait(begins));
    meanwhile();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

TEST(CommFailure, WhoWaitsElsewhereNamesAPeerThatIsSilent) {
  Ranks ranks(3, 4096, {.timeoutSeconds = 0.5});
  expectFailure(waitElsewhere(ranks, {0, 2}, 60),
                "rank 1 failed: it did not arrive within 0.5 s: it has died, hangs or is stopped");
  expectFailure(ranks[2].failure(),
                "rank 1 failed: it did not arrive within 0.5 s: it has died, hangs or is stopped");
}

TEST(CommFailure, AllThatWaitElsewhereWaitInVain) {
  Ranks ranks(2, 4096, {.timeoutSeconds = 0.5});
  EXPECT_THAT(waitElsewhere(ranks, {0, 1}, 60).message(),
              HasSubstr("no rank is known to have failed: all have waited for 0.75 s, so a device, or a link "
                        "between two, hangs"));
}

TEST(CommFailure, WhoWaitsElsewhereWaitsForAPeerAtWorkAndForOneThatWaits) {
  Ranks ranks(3, 4096, {.timeoutSeconds = 0.5});
  const Status status = waitElsewhere(ranks, {0, 1}, 1.5, [&] { ranks[2].noteProgress(); });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(ranks[0].failure().ok());
}

TEST(CommFailure, WhoWaitsElsewhereHearsOfAFailure) {
  Ranks ranks(2, 4096);
  EXPECT_TRUE(ranks[0].noteWait(true).ok());
  ranks[1].fail("no space left on device");
  expectFailure(ranks[0].noteWait(false), "rank 1 failed: no space left on device");
  expectFailure(ranks[0].failure(), "rank 1 failed: no space left on device");
}

} // namespace
} // namespace trainc
