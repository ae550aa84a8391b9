// A device that accepts every call and computes nothing, for dry runs.
#pragma once

#include "base/arena.h"
#include "runtime/device/device.h"

#include <vector>

namespace trainc {

/// Arenas are reserved address space without memory; reads return zeros. Kernels are not loaded, so plans for
/// any CPU run.
class NullDevice final : public Device {
public:
  std::string description() const override { return "null (dry run)"; }
  std::string arithmetic() const override { return ""; }
  Result<DeviceRates> measureRates() override { return DeviceRates(); }
  Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                 Communicator *communicator) override;
  uint64_t allocatedBytes() const override { return bytesOf(arenas_); }
  BlockMemory blockMemory() const override { return {}; }
  Status loadKernels(const fb::Plan &) override { return {}; }
  Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *, StepObserver *) override {
    return std::make_unique<Executable>(std::move(program));
  }
  void enqueue(Executable &, StepRange) override {}
  Status runStep(Executable &, uint32_t, uint64_t) override { return {}; }
  void write(DeviceAddress, std::span<const std::byte>) override {}
  void read(std::span<std::byte> destination, DeviceAddress source) override;
  Status synchronise() override { return {}; }
  Status writeBeside(DeviceAddress, std::span<const std::byte>) override { return {}; }
  Status readBeside(std::span<std::byte> destination, DeviceAddress source) override {
    read(destination, source);
    return {};
  }
  std::span<std::byte> hostView(DeviceSpan span) override { return {span.address.pointer(), span.bytes}; }
  void onProgress(std::function<void()>) override {}

private:
  std::vector<ArenaMapping> arenas_;
  std::vector<ArenaMapping> onDisk_; ///< reserved address space only
};

} // namespace trainc
