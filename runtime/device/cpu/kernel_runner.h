// A plan's kernels for CPUs, on threads.
#pragma once

#include "runtime/base/arena.h"
#include "runtime/device/cpu/kernel_library.h"
#include "runtime/device/cpu/tile_runner.h"

#include <optional>

namespace trainc {

/// Launches kernels one after the other, each on all threads of a pool.
class KernelRunner {
public:
  /// The pool must outlive it.
  explicit KernelRunner(ThreadPool &pool) : pool_(pool) {}

  /// `plan` must outlive the runner. Fails as KernelLibrary::load() does, and (kFailed) where there is no
  /// memory for blocks.
  Status load(const fb::Plan &plan);

  /// Runs tiles [0, grid) of plan.kernels[kernel], each thread with memory of its own for its blocks. `args`
  /// are as many addresses as it has parameters.
  void launch(uint32_t kernel, void *const *args, uint64_t grid, const TileRunner &tiles) const;

  const KernelLibrary &kernels() const { return kernels_; }
  /// Bytes that each thread has for the blocks of kernels.
  uint64_t blockBytes() const { return blockBytes_; }

private:
  ThreadPool &pool_;
  KernelLibrary kernels_;
  std::optional<ArenaMapping> blockMemory_; ///< a part for each thread
  uint64_t blockBytes_ = 0;                 ///< of a part
};

} // namespace trainc
