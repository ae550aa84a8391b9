// Kernels of the host's cores among what runs on a GPU.
#pragma once

#include "runtime/device/cpu/kernel_runner.h"
#include "runtime/device/cuda/cuda_fault.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/program.h"

#include <deque>
#include <fmt/format.h>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trainc {

/// A plan's kernels for the host, and the threads that run them.
class HostKernels {
public:
  explicit HostKernels(unsigned threads) : pool_(threads), runner_(pool_) {}

  /// See KernelRunner::load().
  Status load(const fb::Plan &plan) { return runner_.load(plan); }
  /// One at a time.
  void launch(uint32_t kernel, void *const *args, uint64_t grid) const {
    runner_.launch(kernel, args, grid, TileRunner(pool_, onProgress_));
  }
  /// "x86-64-v4 on 8 threads of the host"
  std::string description() const {
    return fmt::format("{} on {} thread{} of the host", runner_.kernels().level(), pool_.threads(),
                       pool_.threads() == 1 ? "" : "s");
  }

private:
  mutable ThreadPool pool_;
  KernelRunner runner_;
  std::function<void()> onProgress_; ///< none: the GPU's host waits for it as for the GPU
};

/// Launches of one program as functions of the host, which run between those of a stream. What runs them may
/// do so more than once, and needs this to live.
class HostLaunches {
public:
  explicit HostLaunches(CudaFault &fault) : fault_(fault) {}
  HostLaunches(const HostLaunches &) = delete;
  HostLaunches &operator=(const HostLaunches &) = delete;

  /// `args`: addresses in the host's memory.
  Status enqueue(const HostKernels &kernels, const LaunchStep &launch, std::span<const DeviceAddress> args,
                 CUstream stream);
  /// Forgets those that have run for the last time.
  void clear() { launches_.clear(); }

private:
  struct Launch {
    const HostKernels &kernels;
    const CudaFault &fault;
    uint32_t kernel;
    uint64_t grid;
    std::vector<void *> args;
  };
  static void run(void *launch);

  const CudaFault &fault_;
  std::deque<Launch> launches_; ///< stay where they are
};

} // namespace trainc
