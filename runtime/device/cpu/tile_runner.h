// Execution of tiles on the CPU device's threads.
#pragma once

#include "runtime/device/cpu/thread_pool.h"

#include <algorithm>
#include <functional>

namespace trainc {

/// Runs the tiles of a kernel or library call, each on one thread, and reports progress from time to time.
class TileRunner {
public:
  /// Both must outlive the runner. `onProgress` may be empty.
  TileRunner(ThreadPool &pool, const std::function<void()> &onProgress)
      : pool_(pool), onProgress_(onProgress) {}

  /// Calls body(begin, end) for ranges that cover [0, grid), on any thread, in any order.
  template <typename Body> void run(uint64_t grid, const Body &body) const {
    pool_.run(grid, [&](uint64_t begin, uint64_t end) {
      const uint64_t piece = onProgress_ ? (end - begin + kPieces - 1) / kPieces : end - begin;
      for (; begin < end; begin += piece) {
        body(begin, std::min(begin + piece, end));
        if (onProgress_)
          onProgress_();
      }
    });
  }

private:
  /// Number of progress reports per range of tiles.
  static constexpr uint64_t kPieces = 16;

  ThreadPool &pool_;
  const std::function<void()> &onProgress_;
};

} // namespace trainc
