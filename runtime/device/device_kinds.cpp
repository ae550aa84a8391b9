#include "runtime/device/device_kinds.h"

#include "runtime/device/built_devices.h"

#include <algorithm>

namespace trainc {

#define TRAINC_DEVICE(folder, open, target, help)                                                            \
  OpenDevice open;                                                                                           \
  static_assert(findTarget(target) != nullptr, "a row of targets.def");
#define TRAINC_SEEDED_DEVICE(folder, open, target, help) TRAINC_DEVICE(folder, open, target, help)
#define TRAINC_DRY_DEVICE(folder, open, help) OpenDevice open;
#include "runtime/device/devices.def"
#undef TRAINC_DEVICE
#undef TRAINC_SEEDED_DEVICE
#undef TRAINC_DRY_DEVICE

namespace {

constexpr DeviceKind kKinds[] = {
#define TRAINC_DEVICE(folder, open, target, help)                                                            \
  {#folder, target, help, TRAINC_BUILT_##folder ? open : nullptr},
#define TRAINC_SEEDED_DEVICE(folder, open, target, help)                                                     \
  {#folder, target, help, TRAINC_BUILT_##folder ? open : nullptr, true},
#define TRAINC_DRY_DEVICE(folder, open, help) {#folder, "", help, open},
#include "runtime/device/devices.def"
#undef TRAINC_DEVICE
#undef TRAINC_SEEDED_DEVICE
#undef TRAINC_DRY_DEVICE
};

} // namespace

std::span<const DeviceKind> deviceKinds() { return kKinds; }

static const DeviceKind *findKind(std::string_view DeviceKind::*field, std::string_view value) {
  const auto *const found = std::ranges::find(kKinds, value, field);
  return found == std::end(kKinds) ? nullptr : found;
}

const DeviceKind *findDeviceKind(std::string_view name) { return findKind(&DeviceKind::name, name); }

const DeviceKind *deviceOfTarget(std::string_view target) { return findKind(&DeviceKind::target, target); }

Result<OpenedDevice> openDevice(std::string_view name, const TargetTraits &target, const DevicePlace &place) {
  const DeviceKind *named = findDeviceKind(name);
  const DeviceKind *kind = named ? named : deviceOfTarget(target.name);
  if (!kind || !kind->open)
    return lacksDevice(target);
  return kind->open(place);
}

Status lacksDevice(const TargetTraits &target) {
  const DeviceKind *kind = deviceOfTarget(target.name);
  if (!kind)
    return invalidInput("the plan is for target {}, for which this program has no device; compile with "
                        "--target={}",
                        target.name, kDefaultTarget.name);
  return invalidInput("the plan is for {}, and this program was built without the headers that the device "
                      "{} needs; build it where they are, or compile with --target={}",
                      target.processors, kind->name, kDefaultTarget.name);
}

} // namespace trainc
