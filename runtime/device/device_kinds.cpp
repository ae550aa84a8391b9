#include "runtime/device/device_kinds.h"

#include "runtime/device/built_devices.h"

#include <algorithm>
#include <cassert>

namespace trainc {

#define TRAINC_DEVICE(folder, open, target, processors, help) OpenDevice open;
#define TRAINC_DRY_DEVICE(folder, open, help) OpenDevice open;
#include "runtime/device/devices.def"
#undef TRAINC_DEVICE
#undef TRAINC_DRY_DEVICE

namespace {

constexpr DeviceKind kKinds[] = {
#define TRAINC_DEVICE(folder, open, target, processors, help)                                                \
  {#folder, target, processors, help, TRAINC_BUILT_##folder ? open : nullptr},
#define TRAINC_DRY_DEVICE(folder, open, help) {#folder, "", "", help, open},
#include "runtime/device/devices.def"
#undef TRAINC_DEVICE
#undef TRAINC_DRY_DEVICE
};

} // namespace

std::span<const DeviceKind> deviceKinds() { return kKinds; }

const DeviceKind *findDeviceKind(std::string_view name) {
  const auto *const found = std::ranges::find(kKinds, name, &DeviceKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

const DeviceKind &deviceOfTarget(std::string_view target) {
  const auto *const found = std::ranges::find(kKinds, target, &DeviceKind::target);
  assert(found != std::end(kKinds));
  return *found;
}

Result<OpenedDevice> openDevice(std::string_view name, std::string_view target, const DevicePlace &place) {
  const DeviceKind *named = findDeviceKind(name);
  const DeviceKind &kind = named ? *named : deviceOfTarget(target);
  if (!kind.open)
    return lacksDevice(target);
  return kind.open(place);
}

Status lacksDevice(std::string_view target) {
  const DeviceKind &kind = deviceOfTarget(target);
  return invalidInput("the plan is for {}, and this program was built without the headers that the device "
                      "{} needs; build it where they are, or compile with --target={}",
                      kind.processors, kind.name, kKinds[0].target);
}

} // namespace trainc
