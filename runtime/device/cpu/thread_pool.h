// Thread pool of the CPU device.
#pragma once

#include "base/clock.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace trainc {

/// A fixed set of threads that share the ranges of one job at a time; the caller works too. Between jobs
/// threads spin briefly, then sleep. A job does not wait for threads that the system has not scheduled yet;
/// such threads take ranges as long as some are left. run() does not allocate. Only one thread may call run()
/// at a time.
class ThreadPool {
public:
  /// `threads` >= 1, including the caller. Fewer are started if the system refuses more.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Index of the calling thread, below threads(), while it works on a job; the caller of run() is 0.
  static unsigned thread() { return thread_; }

  /// Makes each thread record in its entry of `spans` the time from its first to its last range, over all
  /// jobs until the caller clears the entry. `spans` has threads() entries, or none to record nothing. Call
  /// it only between jobs.
  void watch(std::span<TimeSpan> spans) { watched_ = spans; }

  /// Calls body(begin, end) for ranges of at most `chunk` indices that cover [0, count), each once, on any
  /// thread, in any order; returns when all are done. A single range runs on the caller.
  template <typename Body> void run(uint64_t count, uint64_t chunk, const Body &body) {
    if (count <= chunk || workers_.empty()) {
      if (count > 0) {
        const Working working(watched_);
        body(uint64_t{0}, count);
      }
      return;
    }
    const auto call = [](const void *context, uint64_t begin, uint64_t end) {
      (*static_cast<const Body *>(context))(begin, end);
    };
    runParallel({call, &body, count, chunk});
  }

  /// Divides [0, count) into a few ranges per thread: enough for balance if a thread is delayed, few enough
  /// for low overhead.
  template <typename Body> void run(uint64_t count, const Body &body) {
    const uint64_t ranges = uint64_t{threads()} * kRangesPerThread;
    run(count, (count + ranges - 1) / ranges, body);
  }

private:
  static constexpr uint64_t kRangesPerThread = 4;

  struct Job {
    void (*call)(const void *context, uint64_t begin, uint64_t end) = nullptr;
    const void *context = nullptr;
    uint64_t count = 0, chunk = 1;
  };

  /// Marks the calling thread as working during its lifetime.
  class Working {
  public:
    explicit Working(std::span<TimeSpan> watched)
        : span_(watched.empty() ? nullptr : &watched[thread_]), begin_(span_ ? steadySeconds() : 0) {}
    ~Working() {
      if (span_)
        *span_ = {span_->end > 0 ? span_->begin : begin_, steadySeconds()};
    }
    Working(const Working &) = delete;
    Working &operator=(const Working &) = delete;

  private:
    TimeSpan *span_;
    double begin_;
  };

  /// Bit of members_ that is set while a job can be joined; the other bits count the workers that joined.
  static constexpr uint32_t kOpen = uint32_t{1} << 31;

  void runParallel(const Job &job);
  void work(const Job &job);
  void workerLoop(unsigned thread);
  bool join();
  void leave();

  static thread_local constinit unsigned thread_;

  std::span<TimeSpan> watched_; ///< by thread

  // On separate cache lines, so that taking a range does not disturb threads that wait for the next job.
  alignas(64) Job job_;
  alignas(64) std::atomic<uint32_t> generation_{0}; ///< job counter; a change starts a job
  alignas(64) std::atomic<uint64_t> next_{0};       ///< first index not yet taken
  alignas(64) std::atomic<uint32_t> members_{0};    ///< workers in the job, and kOpen
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

} // namespace trainc
