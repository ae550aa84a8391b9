#include "test/emulator/libcuda/driver.h"

#include "test/emulator/libcuda/entry_points.h"
#include "test/emulator/libcuda/results.h"

#include <algorithm>
#include <chrono>

namespace trainc::emulator {

namespace {

/// Waits for running work before statics are destroyed; with a timeout, because it may wait for a peer.
struct EndOfProcess {
  explicit EndOfProcess(DriverLock &driverLock) : lock(driverLock) {}
  ~EndOfProcess() {
    std::unique_lock held(lock.mutex);
    lock.ending = true;
    lock.changed.notify_all();
    lock.changed.wait_for(held, std::chrono::seconds(1), [this] { return lock.running == 0; });
  }
  DriverLock &lock;
};

} // namespace

Driver &Driver::get() {
  static Driver &driver = *new Driver;
  static const EndOfProcess end(driver.lock);
  return driver;
}

Driver::Driver() : calls({"cu", kEntryPoints, resultNamed}) {
  settings = Settings::fromEnvironment();
  calls.reset();
}

void Driver::configure(std::unique_lock<std::mutex> &held) {
  if (std::ranges::any_of(devices_, [](const auto &device) { return device->context; }))
    return;
  settings = Settings::fromEnvironment();
  calls.reset();
  std::vector<std::unique_ptr<Device>> made;
  for (const uint32_t index : settings.devices)
    made.push_back(std::make_unique<Device>(lock, index, settings));
  devices_.swap(made); // at once, so that no other thread sees an empty list
  held.unlock();       // the threads of the old devices need the lock to end
  made.clear();
  held.lock();
}

Device *Driver::device(CUdevice index) {
  return index >= 0 && static_cast<size_t>(index) < devices_.size() ? devices_[index].get() : nullptr;
}

Device *Driver::deviceOf(CUdeviceptr address, size_t count) {
  for (const std::unique_ptr<Device> &device : devices_)
    if (device->memory.bytes(address, count))
      return device.get();
  return nullptr;
}

std::shared_ptr<PinnedMemory> Driver::pinnedAt(const void *address, size_t count) const {
  const auto begin = reinterpret_cast<uint64_t>(address);
  const auto next = pinned.lower_bound(begin + count);
  if (next == pinned.begin())
    return nullptr;
  const auto &[start, memory] = *std::prev(next);
  return start + memory->bytes > begin ? memory : nullptr;
}

} // namespace trainc::emulator
