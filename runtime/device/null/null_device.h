// A device that takes every call and computes nothing: dry runs.
#pragma once

#include "runtime/base/arena.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// Arenas are address space without memory: reading them gives zeros. Kernels are not loaded, so a plan for
/// any CPU runs.
class NullDevice final : public Device {
public:
  std::string description() const override { return "null (dry run)"; }
  Result<std::byte *> allocateArena(std::string_view name, uint64_t bytes) override;
  uint64_t allocatedBytes() const override { return bytesOf(arenas_); }
  Status loadKernels(const fb::Plan &) override { return {}; }
  void onProgress(std::function<void()>) override {}
  void launch(uint32_t, void *const *, uint64_t) override {}
  void copy(std::byte *, const std::byte *, uint64_t) override {}
  void zero(std::byte *, uint64_t) override {}
  void toDevice(std::byte *, std::span<const std::byte>) override {}
  void fromDevice(std::span<std::byte> destination, const std::byte *source) override;
  void synchronise() override {}

private:
  std::vector<ArenaMapping> arenas_;
};

} // namespace trainc
