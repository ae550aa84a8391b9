#include "runtime/device/cpu/thread_pool.h"

#include "test/unit/runtime/asleep.h"
#include "test/unit/runtime/no_threads.h"

#include <gtest/gtest.h>
#include <set>

namespace trainc {
namespace {

TEST(ThreadPool, WorksAloneWhereNoThreadStarts) {
  const test::NoThreads none;
  ThreadPool pool(4);
  EXPECT_EQ(pool.threads(), 1U);
  uint64_t sum = 0;
  pool.run(100, 1, [&](uint64_t begin, uint64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 100U);
}

class ThreadPoolTest : public testing::TestWithParam<unsigned> {};

TEST_P(ThreadPoolTest, RunsEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (const uint64_t count : {0, 1, 2, 7, 64, 1000}) {
    std::vector<std::atomic<int>> hits(count);
    pool.run(count, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        hits[i].fetch_add(1);
    });
    for (uint64_t i = 0; i < count; ++i)
      EXPECT_EQ(hits[i], 1) << i << " of " << count;
  }
}

TEST_P(ThreadPoolTest, OneJobSeesTheWritesOfTheLast) {
  ThreadPool pool(GetParam());
  std::vector<uint64_t> values(257, 0);
  for (int job = 0; job < 2000; ++job)
    pool.run(values.size(), 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i)
        values[i] += i;
    });
  for (uint64_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 2000 * i);
}

TEST_P(ThreadPoolTest, WakesFromSleep) {
  ThreadPool pool(GetParam());
  std::atomic<int> sum{0};
  for (int i = 0; i < 3; ++i) {
    test::waitUntilOthersAreAsleep();
    pool.run(8, 1, [&](uint64_t, uint64_t) { ++sum; });
  }
  EXPECT_GE(sum, GetParam() == 1 ? 3 : 24);
}

/// Spans cover all jobs until the caller clears them. A thread that comes too late for a job has not worked.
TEST_P(ThreadPoolTest, TellsWhenEachThreadWorked) {
  ThreadPool pool(GetParam());
  std::vector<TimeSpan> spans(pool.threads());
  std::vector<std::atomic<bool>> worked(pool.threads());
  const double begin = steadySeconds();
  pool.watch(spans);
  for (int job = 0; job < 10; ++job)
    pool.run(64, 1, [&](uint64_t, uint64_t) { worked[ThreadPool::thread()] = true; });
  const double end = steadySeconds();
  for (unsigned thread = 0; thread < pool.threads(); ++thread) {
    ASSERT_EQ(spans[thread].end > 0, worked[thread]) << thread;
    if (worked[thread]) {
      EXPECT_LE(begin, spans[thread].begin);
      EXPECT_LT(spans[thread].begin, spans[thread].end);
      EXPECT_LE(spans[thread].end, end);
    }
  }
  pool.watch({});
  spans.assign(pool.threads(), {});
  pool.run(64, 1, [](uint64_t, uint64_t) {});
  for (const TimeSpan &span : spans)
    EXPECT_EQ(span.end, 0) << "nobody watches";
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1u, 2u, 3u, 8u));

TEST(ThreadPool, ASingleRangeRunsOnTheCaller) {
  ThreadPool pool(4);
  std::thread::id runner;
  pool.run(10, 10, [&](uint64_t, uint64_t) { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

} // namespace
} // namespace trainc
