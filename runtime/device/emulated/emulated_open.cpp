// The entry of the emulated device in the registry of devices.
#include "runtime/device/device_kinds.h"
#include "runtime/device/emulated/emulated_device.h"

namespace trainc {

extern OpenDevice openEmulatedDevice;

/// Ranks use different orders.
Result<OpenedDevice> openEmulatedDevice(const DevicePlace &place) {
  constexpr uint64_t kSeedsApart = uint64_t{1} << 32;
  auto device = std::make_unique<EmulatedDevice>(place.threads, place.seed + place.rank.rank * kSeedsApart);
  const unsigned threads = device->threads();
  return OpenedDevice{std::move(device), threads};
}

} // namespace trainc
