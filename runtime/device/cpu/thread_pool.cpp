#include "runtime/device/cpu/thread_pool.h"

#include "base/thread.h"

#include <algorithm>
#include <immintrin.h>

namespace trainc {

namespace {

/// About 100 us: longer than the gaps between kernels of a step, shorter than those between steps.
constexpr int kSpins = 3000;

/// Waits until `word` differs from `old`: spins first, then sleeps.
void waitWhile(const std::atomic<uint32_t> &word, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != old)
      return;
    _mm_pause();
  }
  word.wait(old, std::memory_order_acquire);
}

} // namespace

thread_local constinit unsigned ThreadPool::thread_ = 0;

ThreadPool::ThreadPool(unsigned threads) {
  workers_.reserve(threads - 1);
  for (unsigned i = 1; i < threads; ++i) {
    std::thread worker = tryStartThread([this, i] { workerLoop(i); });
    if (!worker.joinable())
      return;
    workers_.push_back(std::move(worker));
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread &worker : workers_)
    worker.join();
}

void ThreadPool::work(const Job &job) {
  const auto take = [&] { return next_.fetch_add(job.chunk, std::memory_order_relaxed); };
  uint64_t begin = take();
  if (begin >= job.count)
    return;
  const Working working(watched_);
  for (; begin < job.count; begin = take())
    job.call(job.context, begin, std::min(begin + job.chunk, job.count));
}

void ThreadPool::runParallel(const Job &job) {
  job_ = job;
  next_.store(0, std::memory_order_relaxed);
  members_.store(kOpen, std::memory_order_release);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  work(job);
  members_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (uint32_t left; (left = members_.load(std::memory_order_acquire)) != 0;)
    waitWhile(members_, left);
}

/// Joins the open job, if any; the job then stays valid until leave().
bool ThreadPool::join() {
  uint32_t members = members_.load(std::memory_order_relaxed);
  while ((members & kOpen) != 0)
    if (members_.compare_exchange_weak(members, members + 1, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
      return true;
  return false;
}

void ThreadPool::leave() {
  if (members_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    members_.notify_one();
}

void ThreadPool::workerLoop(unsigned thread) {
  thread_ = thread;
  for (uint32_t seen = 0;;) {
    waitWhile(generation_, seen);
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_relaxed))
      return;
    if (!join())
      continue; // the other threads took all ranges
    work(job_);
    leave();
  }
}

} // namespace trainc
