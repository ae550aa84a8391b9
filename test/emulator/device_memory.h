// Memory of an emulated GPU: addresses that the host cannot touch, and for each byte whether it was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trainc::emulator {

/// Bytes from a device address on, and which of them were written. Whoever holds one may use it even after
/// its release.
struct DeviceAllocation {
  DeviceAllocation(uint64_t address, uint64_t size, bool isWritten = false);

  bool contains(uint64_t from, uint64_t count) const {
    return from >= address && count <= size && from - address <= size - count;
  }

  uint64_t address = 0, size = 0;
  std::unique_ptr<std::byte[]> bytes;
  std::unique_ptr<uint8_t[]> written; ///< of each byte: 0 or 1
};

/// Memory of an emulated GPU. Addresses are untouchable for the host (PROT_NONE); the bytes lie elsewhere.
/// Released addresses are used again as late as possible. For any thread.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t limit);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// On a border of 512. 0: none left.
  uint64_t allocate(uint64_t bytes);
  /// False: not the beginning of a live allocation.
  bool release(uint64_t address);

  /// Null unless [address, address+count) lies in one live allocation.
  std::byte *bytes(uint64_t address, uint64_t count);
  void noteWritten(uint64_t address, uint64_t count);
  /// Every byte was.
  bool isWritten(uint64_t address, uint64_t count) const;

  uint64_t limit() const { return limit_; }
  uint64_t freeBytes() const;

  /// The live allocation that an address lies in; null: none.
  std::shared_ptr<DeviceAllocation> find(uint64_t address) const;
  /// Where an address lies, for messages: "4 bytes past the end of 512 bytes at 0x7f0000000000".
  std::string describe(uint64_t address) const;

private:
  struct Released {
    uint64_t address, size;
  };

  std::shared_ptr<DeviceAllocation> findLocked(uint64_t address) const;
  uint64_t placeFor(uint64_t extent) const;
  bool isFree(uint64_t begin, uint64_t extent) const;

  uint64_t limit_;
  uint64_t base_ = 0, reserved_ = 0; ///< addresses of all allocations, past and future
  mutable std::mutex mutex_;
  uint64_t used_ = 0, next_ = 0;
  std::map<uint64_t, std::shared_ptr<DeviceAllocation>> live_; ///< by address
  std::vector<Released> released_;                             ///< the latest last; bounded
};

} // namespace trainc::emulator
