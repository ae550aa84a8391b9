// Host kernels between the work of a GPU stream.
#pragma once

#include "runtime/cuda/cuda_handles.h"
#include "runtime/device/cpu/kernel_runner.h"
#include "runtime/device/cuda/cuda_fault.h"
#include "runtime/device/program.h"

#include <deque>
#include <fmt/format.h>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trainc {

/// The host kernels of a plan, and the threads that run them.
class HostKernels {
public:
  explicit HostKernels(unsigned threads) : pool_(threads), runner_(pool_) {}

  /// See KernelRunner::load().
  Status load(const fb::Plan &plan) { return runner_.load(plan); }
  /// Only one launch at a time.
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
  std::function<void()> onProgress_; ///< empty: the GPU's host thread reports progress during the wait
};

/// Launches of one program as host functions in stream order. Streams and graphs may run them repeatedly;
/// this object must outlive these.
class HostLaunches {
public:
  explicit HostLaunches(CudaFault &fault) : fault_(fault) {}
  HostLaunches(const HostLaunches &) = delete;
  HostLaunches &operator=(const HostLaunches &) = delete;

  /// `args` are host addresses.
  Status enqueue(const HostKernels &kernels, const LaunchStep &launch, std::span<const DeviceAddress> args,
                 CUstream stream);
  /// Deletes the launches; none may run any more.
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
  std::deque<Launch> launches_; ///< a deque keeps addresses stable
};

} // namespace trainc
