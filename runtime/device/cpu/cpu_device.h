// The CPU as a device: own threads, generated kernels.
#pragma once

#include "runtime/base/arena.h"
#include "runtime/device/cpu/kernel_library.h"
#include "runtime/device/cpu/thread_pool.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// CPUs that this process may run on.
unsigned availableCpus();

/// Every operation is done when its call returns. The bits of its results do not depend on the number of
/// threads: tiles are fixed by the plan, and each is computed by one thread.
class CpuDevice final : public Device {
public:
  /// `threads` 0: as many as the process may run on. Create it before other threads start.
  explicit CpuDevice(unsigned threads = 0);

  unsigned threads() const { return pool_.threads(); }
  /// The instruction-set level of the kernels in use; empty before loadKernels() and for a plan without
  /// kernels.
  const std::string &level() const { return kernels_.level(); }

  std::string description() const override;
  Result<std::byte *> allocateArena(std::string_view name, uint64_t bytes) override;
  uint64_t allocatedBytes() const override { return bytesOf(arenas_); }
  Status loadKernels(const fb::Plan &plan) override;
  void onProgress(std::function<void()> callback) override { onProgress_ = std::move(callback); }
  void launch(uint32_t kernel, void *const *args, uint64_t grid) override;
  void copy(std::byte *destination, const std::byte *source, uint64_t bytes) override;
  void zero(std::byte *destination, uint64_t bytes) override;
  void toDevice(std::byte *destination, std::span<const std::byte> source) override;
  void fromDevice(std::span<std::byte> destination, const std::byte *source) override;
  void synchronise() override {}

private:
  ThreadPool pool_;
  KernelLibrary kernels_;
  std::vector<ArenaMapping> arenas_;
  std::function<void()> onProgress_;
};

} // namespace trainc
