// What tests see of a device's memory, where the host reaches it.
#pragma once

#include "runtime/device/device.h"

#include <span>

namespace trainc::test {

template <typename T = std::byte> std::span<T> hostView(Device &device, DeviceSpan memory) {
  const std::span<std::byte> bytes = device.hostView(memory);
  return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
}

} // namespace trainc::test
