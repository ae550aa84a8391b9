// The entry of dry runs in the registry of devices.
#include "runtime/device/device_kinds.h"
#include "runtime/device/null/null_device.h"

namespace trainc {

extern OpenDevice openNullDevice;

Result<OpenedDevice> openNullDevice(const DevicePlace &) {
  return OpenedDevice{std::make_unique<NullDevice>()};
}

} // namespace trainc
