// The entry of the CPU in the registry of devices.
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/device_kinds.h"

namespace trainc {

extern OpenDevice openCpuDevice;

Result<OpenedDevice> openCpuDevice(const DevicePlace &place) {
  auto device = std::make_unique<CpuDevice>(place.threads);
  const unsigned threads = device->threads();
  return OpenedDevice{std::move(device), threads};
}

} // namespace trainc
