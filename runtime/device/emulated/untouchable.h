// Addresses that the host cannot dereference.
#pragma once

#include "base/device_address.h"
#include "base/status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainc {

/// Inaccessible address space (any access raises SIGSEGV); each range stands for memory elsewhere.
class Untouchable {
public:
  Untouchable() = default;
  Untouchable(const Untouchable &) = delete;
  Untouchable &operator=(const Untouchable &) = delete;
  ~Untouchable();

  /// Returns addresses that stand for `bytes` at `real`. Fails with kFailed, naming `name`, if there is not
  /// enough address space.
  Result<DeviceAddress> standFor(DeviceAddress real, std::string_view name, uint64_t bytes);

  /// The real address for an address within a range or at its end; null for any other.
  DeviceAddress real(DeviceAddress address) const;

private:
  struct Range {
    DeviceAddress begin, real;
    uint64_t bytes;
    void *mapping;
    uint64_t mapped;
  };
  std::vector<Range> ranges_;
};

} // namespace trainc
