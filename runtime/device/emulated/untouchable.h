// Addresses that the host cannot use.
#pragma once

#include "runtime/base/device_address.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainc {

/// Address space in which every access of the host ends the process (SIGSEGV), each range of it standing for
/// as much memory elsewhere.
class Untouchable {
public:
  Untouchable() = default;
  Untouchable(const Untouchable &) = delete;
  Untouchable &operator=(const Untouchable &) = delete;
  ~Untouchable();

  /// Addresses that stand for the `bytes` at `real`. Fails (kFailed), naming `name`, when there is no such
  /// amount of address space.
  Result<DeviceAddress> standFor(DeviceAddress real, std::string_view name, uint64_t bytes);

  /// What an address stands for that lies in a range, or at the end of one; of any other, as of no bytes,
  /// null.
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
