// Execution of a plan's CPU kernels on a thread pool.
#pragma once

#include "base/arena.h"
#include "runtime/device/cpu/kernel_library.h"
#include "runtime/device/cpu/tile_runner.h"

#include <optional>

namespace trainc {

/// Launches kernels one after the other, each on all threads of a pool.
class KernelRunner {
public:
  /// `pool` must outlive the runner.
  explicit KernelRunner(ThreadPool &pool) : pool_(pool) {}

  /// `plan` must outlive the runner. Fails like KernelLibrary::load(), and with kFailed if scratch memory
  /// cannot be allocated.
  Status load(const fb::Plan &plan);

  /// Runs tiles [0, grid) of plan.kernels[kernel]; each thread has scratch memory of its own. `args` holds
  /// one address per parameter.
  void launch(uint32_t kernel, void *const *args, uint64_t grid, const TileRunner &tiles) const;

  const KernelLibrary &kernels() const { return kernels_; }
  /// Scratch bytes per thread.
  uint64_t blockBytes() const { return blockBytes_; }

private:
  ThreadPool &pool_;
  KernelLibrary kernels_;
  std::optional<ArenaMapping> blockMemory_; ///< scratch memory of all threads
  uint64_t blockBytes_ = 0;                 ///< bytes per thread
};

} // namespace trainc
