// The CPU device's threads.
#pragma once

#include "runtime/base/clock.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace trainc {

/// A fixed set of threads that run the parts of one job at a time; the caller works too. Between jobs threads
/// spin for a short while, then sleep. Nobody waits for a thread that the system does not let run: those that
/// come while parts are left join in. run() allocates nothing. One thread may call run() at a time.
class ThreadPool {
public:
  /// `threads` >= 1, the caller included. There are fewer where the system starts no more.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Which of its pool's threads() the calling one is, while it runs a part of a job; the caller of run() is
  /// number 0.
  static unsigned thread() { return thread_; }

  /// From now on each thread notes in its own of `spans` when it works, from its first part of a job to its
  /// last one of all jobs, until the caller empties the span. There are threads() of them, or none: then
  /// nobody notes anything. For moments between jobs.
  void watch(std::span<TimeSpan> spans) { watched_ = spans; }

  /// Calls body(begin, end) for ranges of at most `chunk` indices that cover [0, count), each once, on any
  /// thread, in any order, and returns when all are done. A single range runs on the caller.
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

  /// Splits [0, count) into a few ranges per thread: even enough when a thread is held up, long enough to be
  /// cheap.
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

  /// The calling thread works while this lives.
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

  /// Set in members_ while a job can be joined; the other bits count the workers that have.
  static constexpr uint32_t kOpen = uint32_t{1} << 31;

  void runParallel(const Job &job);
  void work(const Job &job);
  void workerLoop(unsigned thread);
  bool join();
  void leave();

  static thread_local constinit unsigned thread_;

  std::span<TimeSpan> watched_; ///< by thread

  // Apart from each other, so that taking a range does not disturb those who wait for the next job.
  alignas(64) Job job_;
  alignas(64) std::atomic<uint32_t> generation_{0}; ///< counts jobs; a change starts one
  alignas(64) std::atomic<uint64_t> next_{0};       ///< first index that nobody has taken
  alignas(64) std::atomic<uint32_t> members_{0};    ///< workers in the job, and whether it is open (kOpen)
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

} // namespace trainc
