// A device that fails as one may whose copies are asynchronous.
#pragma once

#include "test/unit/runtime/test_device.h"

namespace trainc::test {

/// Another device, and the fault that a test seeds. Its memory is out of the host's reach.
class FaultyDevice final : public Device {
public:
  /// Number of successful read() calls before data are lost.
  uint64_t goodReads = ~uint64_t{0};
  /// Whether asynchronous copies are lost.
  bool losesCopiesBeside = false;

  std::string description() const override { return device_->description(); }
  std::string arithmetic() const override { return device_->arithmetic(); }
  Result<DeviceRates> measureRates() override { return device_->measureRates(); }
  Result<DeviceAddress> allocate(std::string_view name, fb::Space space, uint64_t bytes,
                                 Communicator *communicator) override {
    return device_->allocate(name, space, bytes, communicator);
  }
  uint64_t allocatedBytes() const override { return device_->allocatedBytes(); }
  BlockMemory blockMemory() const override { return device_->blockMemory(); }
  Status loadKernels(const fb::Plan &plan) override { return device_->loadKernels(plan); }
  Result<std::unique_ptr<Executable>> prepare(Program program, Communicator *communicator,
                                              StepObserver *observer) override {
    return device_->prepare(std::move(program), communicator, observer);
  }
  void enqueue(Executable &executable, StepRange steps) override { device_->enqueue(executable, steps); }
  Status runStep(Executable &executable, uint32_t step, uint64_t iteration) override {
    return device_->runStep(executable, step, iteration);
  }
  void write(DeviceAddress destination, std::span<const std::byte> source) override {
    device_->write(destination, source);
  }
  void read(std::span<std::byte> destination, DeviceAddress source) override {
    if (goodReads == 0)
      status_ = lost();
    else
      --goodReads;
    device_->read(destination, source);
  }
  Status synchronise() override {
    TRAINC_RETURN_IF_ERROR(device_->synchronise());
    return status_;
  }
  Status waitForCopies() override {
    TRAINC_RETURN_IF_ERROR(device_->waitForCopies());
    return status_;
  }
  Status readBeside(std::span<std::byte> destination, DeviceAddress source) override {
    return losesCopiesBeside ? lost() : device_->readBeside(destination, source);
  }
  Status writeBeside(DeviceAddress destination, std::span<const std::byte> source) override {
    return losesCopiesBeside ? lost() : device_->writeBeside(destination, source);
  }
  std::span<std::byte> hostView(DeviceSpan) override { return {}; }
  void onProgress(std::function<void()> callback) override { device_->onProgress(std::move(callback)); }

private:
  static Status lost() { return failed("the device has lost a copy"); }

  std::unique_ptr<Device> device_ = testDevice();
  Status status_; ///< of all that was enqueued
};

} // namespace trainc::test
