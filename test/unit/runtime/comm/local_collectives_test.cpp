// Local collectives as seen by one thread that drives all ranks of a host.
#include "base/clock.h"
#include "test/unit/runtime/asleep.h"
#include "test/unit/runtime/comm/support.h"
#include "test/unit/runtime/exec/allocation_counter.h"

#include <future>
#include <thread>

namespace trainc {
namespace {

using test::Ranks;
using Buffers = std::vector<std::span<float>>;

/// Waits for the clock to advance, so that measurements before and after differ.
void awaitTick() {
  for (const double now = steadySeconds(); steadySeconds() == now;)
    std::this_thread::yield();
}

TEST(LocalCollectives, NothingIsAllocatedWhileTheyRun) {
  constexpr uint32_t n = 4;
  Ranks ranks(n, uint64_t{1} << 20);
  const Buffers buffers = ranks.allocateValues(uint64_t{n} * 5000), parts = ranks.allocate(5000);
  ranks.startAll(0, MeetingKind::kBarrier, buffers);
  ranks.waitAll(0); // by now every progress thread runs; its start may allocate
  bool ok = true;
  const uint64_t allocations = test::countAllocations([&] {
    for (int round = 0; round < 3; ++round) {
      ranks.startAll(0, MeetingKind::kAllReduce, buffers);
      ranks.startAll(1, MeetingKind::kReduceScatter, buffers, parts);
      ranks.startAll(2, MeetingKind::kAllGather, buffers);
      for (uint32_t slot = 0; slot < 3; ++slot)
        for (uint32_t rank = 0; rank < n; ++rank)
          ok = ranks.wait(rank, slot).ok() && ok;
    }
  });
  EXPECT_TRUE(ok);
  EXPECT_EQ(allocations, 0U);
}

TEST(LocalCollectives, StartReturnsBeforeAPeerHasArrived) {
  Ranks ranks(2, 4096);
  const Buffers buffers = ranks.allocateValues(100);
  for (uint32_t slot = 0; slot < 10; ++slot)
    ranks.start(0, slot, MeetingKind::kAllReduce, buffers[0]);
  EXPECT_EQ(ranks[0].bytesSent(), 0U) << "none is done without the peer";
  for (uint32_t slot = 0; slot < 10; ++slot)
    ranks.start(1, slot, MeetingKind::kAllReduce, buffers[1]);
  ranks.waitAll(9);
  EXPECT_EQ(ranks[0].bytesSent(), 4000U);
}

// However many are in flight, and without the time in which the first waits for a peer.
TEST(LocalCollectives, SecondsInFlightAreCountedOnce) {
  Ranks ranks(2, 4096);
  const Buffers buffers = ranks.allocateValues(100);
  EXPECT_EQ(ranks[0].seconds().value().inFlight, 0);
  for (uint32_t slot = 0; slot < 10; ++slot)
    ranks.start(0, slot, MeetingKind::kAllReduce, buffers[0]);
  awaitTick(); // rank 1 is late
  const double begin = steadySeconds();
  for (uint32_t slot = 0; slot < 10; ++slot)
    ranks.start(1, slot, MeetingKind::kAllReduce, buffers[1]);
  ranks.waitAll(9);
  const double elapsed = steadySeconds() - begin;
  constexpr double kRounding = 1e-9;
  const CommunicationSeconds seconds = ranks[0].seconds().value();
  EXPECT_GT(seconds.inFlight, 0);
  EXPECT_LE(seconds.inFlight, elapsed + kRounding) << "rank 1 was late, and ten were in flight";
  EXPECT_LE(seconds.exposed, seconds.inFlight + kRounding);
  EXPECT_LE(seconds.exposed, seconds.waited + kRounding);
  awaitTick();
  EXPECT_EQ(ranks[0].seconds().value().inFlight, seconds.inFlight) << "while nothing is in flight";
}

TEST(LocalCollectives, WaitingForALateRankIsNotCommunication) {
  Ranks ranks(2, 4096);
  const Buffers buffers = ranks.allocateValues(100);
  const pid_t waits = ::gettid();
  double asleep = 0, begin = 0;
  std::promise<void> begun;
  std::thread late([&] {
    begun.get_future().wait();
    test::waitUntilAsleep(waits);
    asleep = steadySeconds();
    awaitTick();
    begin = steadySeconds();
    ranks.start(1, 0, MeetingKind::kAllReduce, buffers[1]);
    EXPECT_TRUE(ranks.wait(1, 0).ok());
  });
  TimeSpan ran;
  ranks.start(0, 0, {.kind = MeetingKind::kAllReduce, .ran = &ran}, buffers[0], buffers[0]);
  begun.set_value();
  EXPECT_TRUE(ranks.wait(0, 0).ok());
  const double end = steadySeconds();
  late.join();
  const CommunicationSeconds seconds = ranks[0].seconds().value();
  EXPECT_GE(seconds.waited, begin - asleep);
  EXPECT_GT(seconds.exposed, 0);
  EXPECT_LT(seconds.exposed, seconds.waited);
  EXPECT_LE(seconds.exposed, end - begin);
  EXPECT_LE(begin, ran.begin);
  EXPECT_LT(ran.begin, ran.end);
  EXPECT_LE(ran.end, end);
}

} // namespace
} // namespace trainc
