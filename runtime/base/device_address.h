// Where something lies in a device's memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace trainc {

/// An address of one device, opaque to the host: only the device that gave it can reach what is there.
class DeviceAddress {
public:
  constexpr DeviceAddress() = default;
  explicit constexpr DeviceAddress(uint64_t value) : value_(value) {}
  explicit DeviceAddress(const void *pointer) : value_(reinterpret_cast<uintptr_t>(pointer)) {}

  constexpr uint64_t value() const { return value_; }
  /// For devices, and their communicators, whose addresses are the host's.
  template <typename T> T *as() const { return reinterpret_cast<T *>(value_); }
  std::byte *pointer() const { return as<std::byte>(); }

  constexpr DeviceAddress operator+(uint64_t bytes) const { return DeviceAddress(value_ + bytes); }
  constexpr auto operator<=>(const DeviceAddress &) const = default;

private:
  uint64_t value_ = 0;
};

/// Bytes in a device's memory.
struct DeviceSpan {
  DeviceAddress address;
  uint64_t bytes = 0;
};

} // namespace trainc
