// Addresses in device memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace trainc {

/// An address in the memory of one device, opaque to the host: only the device that returned it can access
/// the memory.
class DeviceAddress {
public:
  constexpr DeviceAddress() = default;
  explicit constexpr DeviceAddress(uint64_t value) : value_(value) {}
  explicit DeviceAddress(const void *pointer) : value_(reinterpret_cast<uintptr_t>(pointer)) {}

  constexpr uint64_t value() const { return value_; }
  /// Host pointer; valid only for devices (and their communicators) whose memory is host memory.
  template <typename T> T *as() const { return reinterpret_cast<T *>(value_); }
  std::byte *pointer() const { return as<std::byte>(); }

  constexpr DeviceAddress operator+(uint64_t bytes) const { return DeviceAddress(value_ + bytes); }
  constexpr auto operator<=>(const DeviceAddress &) const = default;

private:
  uint64_t value_ = 0;
};

/// Initial content of device memory. Unwritten: undefined, so that tools find reads of bytes that no kernel
/// wrote.
enum class FirstBytes : uint8_t { Zero, Unwritten };

/// A range of device memory.
struct DeviceSpan {
  DeviceAddress address;
  uint64_t bytes = 0;
};

} // namespace trainc
