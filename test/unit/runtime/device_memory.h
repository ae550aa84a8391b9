// Access of tests to a device's memory.
#pragma once

#include "runtime/device/device.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace trainc::test {

/// A host copy of device memory, made after all enqueued work. Changes are written back on destruction.
template <typename T> class HostCopy : public std::vector<T> {
public:
  HostCopy(Device &device, DeviceSpan memory)
      : std::vector<T>(memory.bytes / sizeof(T)), device_(device), address_(memory.address) {
    device_.read(bytes(), address_);
    EXPECT_TRUE(device_.synchronise().ok());
    before_.assign(bytes().begin(), bytes().end());
  }
  HostCopy(const HostCopy &) = delete;
  HostCopy &operator=(const HostCopy &) = delete;
  ~HostCopy() {
    if (this->empty() || std::memcmp(before_.data(), this->data(), before_.size()) == 0)
      return; // moved to a vector of the test's, or as it was
    device_.write(address_, bytes());
    EXPECT_TRUE(device_.synchronise().ok());
  }

private:
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(*this)); }

  Device &device_;
  DeviceAddress address_;
  std::vector<std::byte> before_;
};

} // namespace trainc::test
