// Emulates the asynchrony of a GPU on the CPU: enqueued work runs late, in any order that the plan allows, in
// memory that the host cannot access.
#pragma once

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/device.h"
#include "runtime/device/emulated/interleaving.h"
#include "runtime/device/emulated/untouchable.h"

#include <deque>
#include <random>
#include <variant>

namespace trainc {

/// Results have the bits of the CPU device; an order that changes them is a defect of the plan. Work is
/// deferred until synchronise() or, at random, partly run at the next call; it runs on the calling thread.
/// The destination of read() holds NaN until then.
class EmulatedDevice final : public Device {
public:
  /// `threads` as for CpuDevice; `seed` determines the orders.
  EmulatedDevice(unsigned threads, uint64_t seed) : cpu_(threads), seed_(seed), random_(seed) {}
  EmulatedDevice(const EmulatedDevice &) = delete;
  EmulatedDevice &operator=(const EmulatedDevice &) = delete;

  unsigned threads() const { return cpu_.threads(); }

  std::string description() const override;
  std::string arithmetic() const override { return cpu_.arithmetic(); }
  Result<DeviceRates> measureRates() override { return cpu_.measureRates(); }
  Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                 Communicator *communicator) override;
  uint64_t allocatedBytes() const override { return cpu_.allocatedBytes(); }
  BlockMemory blockMemory() const override { return cpu_.blockMemory(); }
  Status loadKernels(const fb::Plan &plan) override { return cpu_.loadKernels(plan); }
  Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *communicator,
                                              StepObserver *observer) override;
  void enqueue(Executable &executable, StepRange steps) override;
  Status runStep(Executable &executable, uint32_t step, uint64_t iteration) override;
  void write(DeviceAddress destination, std::span<const std::byte> source) override;
  void read(std::span<std::byte> destination, DeviceAddress source) override;
  Status synchronise() override;
  Status readBeside(std::span<std::byte> destination, DeviceAddress source) override;
  Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) override;
  std::span<std::byte> hostView(DeviceSpan) override { return {}; }
  void onProgress(std::function<void()> callback) override { cpu_.onProgress(std::move(callback)); }

private:
  struct Steps {
    Executable *executable; ///< for the CPU device
    Interleaving order;
  };
  struct Write {
    DeviceAddress destination;
    std::span<const std::byte> source;
  };
  struct Read {
    std::span<std::byte> destination;
    DeviceAddress source;
  };

  void runSome();
  bool advance();

  CpuDevice cpu_;
  uint64_t seed_;
  std::mt19937_64 random_;
  Untouchable addresses_;
  std::deque<std::variant<Steps, Write, Read>> waiting_; ///< in enqueue order
  Status status_;                                        ///< first error of the work that has run
};

} // namespace trainc
