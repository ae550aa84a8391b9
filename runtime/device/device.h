// What the executor needs of a machine. Implementations: cpu/ (thread pool, kernels) and null/ (dry run).
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace trainc::fb {
struct Plan;
}

namespace trainc {

/// One device. Operations run in the order in which they are issued; they may be asynchronous until
/// synchronise(). Addresses, sizes and kernel indices come from a verified plan: the operations check nothing
/// and cannot fail. Not thread-safe: one thread drives a device.
class Device {
public:
  virtual ~Device() = default;

  /// For messages, e.g. "cpu (x86-64-v4, 2 threads)".
  virtual std::string description() const = 0;

  /// Allocates `bytes` of zeroed memory, 64-byte aligned, that lives as long as the device. The result may be
  /// addressed by the host. Fails (kFailed) when there is no such amount of memory.
  virtual Result<std::byte *> allocateArena(std::string_view name, uint64_t bytes) = 0;
  /// Bytes of all arenas that it holds.
  virtual uint64_t allocatedBytes() const = 0;

  /// Loads the plan's kernels; launch() then takes indices into plan.kernels. Fails (kInvalidInput) when the
  /// machine lacks features that every object of the plan needs, or when a kernel is missing.
  virtual Status loadKernels(const fb::Plan &plan) = 0;

  /// Sets what operations that take long call now and then, from any thread; nothing may be called.
  virtual void onProgress(std::function<void()> callback) = 0;

  /// Runs tiles [0, grid) of a kernel.
  virtual void launch(uint32_t kernel, void *const *args, uint64_t grid) = 0;
  /// Copies between ranges that do not overlap.
  virtual void copy(std::byte *destination, const std::byte *source, uint64_t bytes) = 0;
  virtual void zero(std::byte *destination, uint64_t bytes) = 0;

  /// Copies from the host to the device and back; done when they return.
  virtual void toDevice(std::byte *destination, std::span<const std::byte> source) = 0;
  virtual void fromDevice(std::span<std::byte> destination, const std::byte *source) = 0;

  /// Waits until all that was issued is done.
  virtual void synchronise() = 0;
};

} // namespace trainc
