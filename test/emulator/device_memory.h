// Memory of an emulated GPU: addresses that the host cannot access, and a flag for each byte that was
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trainc::emulator {

/// Bytes at a device address, with written flags. Holders of a reference may use it even after its release.
struct DeviceAllocation {
  DeviceAllocation(uint64_t address, uint64_t size, bool isWritten = false);

  bool contains(uint64_t from, uint64_t count) const {
    return from >= address && count <= size && from - address <= size - count;
  }

  uint64_t address = 0, size = 0;
  std::unique_ptr<std::byte[]> bytes;
  std::unique_ptr<uint8_t[]> written; ///< for each byte: 0 or 1
};

/// Memory of an emulated GPU. Its addresses are inaccessible to the host (PROT_NONE); the bytes are stored
/// elsewhere. Released addresses are reused as late as possible. Thread-safe.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t limit);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// Aligned to 512. Returns 0 if memory is exhausted.
  uint64_t allocate(uint64_t bytes);
  /// Returns false unless the address is the begin of a live allocation.
  bool release(uint64_t address);

  /// Null unless [address, address+count) lies in one live allocation.
  std::byte *bytes(uint64_t address, uint64_t count);
  void noteWritten(uint64_t address, uint64_t count);
  /// Whether all of these bytes were written.
  bool isWritten(uint64_t address, uint64_t count) const;

  uint64_t limit() const { return limit_; }
  uint64_t freeBytes() const;

  /// The live allocation that contains an address, or null.
  std::shared_ptr<DeviceAllocation> find(uint64_t address) const;
  /// Description of an address for messages: "4 bytes past the end of 512 bytes at 0x7f0000000000".
  std::string describe(uint64_t address) const;

private:
  struct Released {
    uint64_t address, size;
  };

  std::shared_ptr<DeviceAllocation> findLocked(uint64_t address) const;
  uint64_t placeFor(uint64_t extent) const;
  bool isFree(uint64_t begin, uint64_t extent) const;

  uint64_t limit_;
  uint64_t base_ = 0, reserved_ = 0; ///< address space of all allocations, past and future
  mutable std::mutex mutex_;
  uint64_t used_ = 0, next_ = 0;
  std::map<uint64_t, std::shared_ptr<DeviceAllocation>> live_; ///< by address
  std::vector<Released> released_;                             ///< latest last; bounded
};

} // namespace trainc::emulator
