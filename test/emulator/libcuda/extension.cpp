#include "test/emulator/libcuda/extension.h"

#include "test/emulator/libcuda/entry.h"

namespace trainc::emulator {

namespace {

/// A call by another library, which does its own counting; checks the stream like an entry point.
CUresult enqueue(CUstream handle, std::string what, std::function<bool()> isReady, EmulatorWork work) {
  const std::string name = what;
  Call call(name);
  if (onDeviceThread)
    return call.refuse(CUDA_ERROR_NOT_PERMITTED, "called by a function that the device runs");
  std::shared_ptr<Stream> stream;
  TRAINC_CU(call.need(call.driver.streams, handle, stream));
  const auto run = [work = std::move(work)](uint64_t) -> std::optional<Failure> {
    if (std::optional<std::string> problem = work())
      return Failure{CUDA_ERROR_LAUNCH_FAILED, std::move(*problem)};
    return std::nullopt;
  };
  return call.append(*stream, {.what = std::move(what), .run = run, .isReady = std::move(isReady)});
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

CUresult emulatorEnqueue(CUstream stream, std::string what, EmulatorWork work) {
  return enqueue(stream, std::move(what), nullptr, std::move(work));
}

CUresult emulatorEnqueueWhen(CUstream stream, std::string what, std::function<bool()> isReady,
                             EmulatorWork work) {
  return enqueue(stream, std::move(what), std::move(isReady), std::move(work));
}

void emulatorTakeMemory(size_t count) {
  Driver &driver = Driver::get();
  const std::lock_guard held(driver.lock.mutex);
  if (const ContextRef context = driver.contexts.find(currentContext))
    context->ownBytes += count;
}

int emulatorCapability() {
  Driver &driver = Driver::get();
  const std::lock_guard held(driver.lock.mutex);
  return driver.contexts.find(currentContext) ? driver.settings.major * 10 + driver.settings.minor : 0;
}

std::byte *emulatorBytes(CUdeviceptr address, size_t count) {
  Driver &driver = Driver::get();
  const std::lock_guard held(driver.lock.mutex);
  Device *device = driver.deviceOf(address, count);
  return device ? device->memory.bytes(address, count) : nullptr;
}

void emulatorNoteWritten(CUdeviceptr address, size_t count) {
  Driver &driver = Driver::get();
  const std::lock_guard held(driver.lock.mutex);
  if (Device *device = driver.deviceOf(address, count))
    device->memory.noteWritten(address, count);
}

bool emulatorIsWritten(CUdeviceptr address, size_t count) {
  Driver &driver = Driver::get();
  const std::lock_guard held(driver.lock.mutex);
  const Device *device = driver.deviceOf(address, count);
  return device && device->memory.isWritten(address, count);
}
