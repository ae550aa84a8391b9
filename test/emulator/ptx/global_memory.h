// Memory that all blocks of a launch share, and its access records.
#pragma once

#include "test/emulator/device_memory.h"
#include "test/emulator/ptx/program.h"
#include "test/emulator/ptx/races.h"

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace trainc::emulator {

/// Bytes and their state: 0 unwritten, 1 written, 2 asynchronous copy in flight.
struct Place {
  std::byte *bytes = nullptr;
  uint8_t *written = nullptr;
  bool isReadOnly = false;
};

/// One launch's view of device memory and of its module's variables.
class GlobalMemory {
public:
  GlobalMemory(DeviceMemory &memory, const PtxProgram &program) : memory_(memory), program_(program) {}
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  /// Empty unless the bytes lie in one allocation.
  Place find(uint64_t address, uint64_t bytes);
  /// Stamps of up to 32 bytes at an address that is aligned to their number.
  Stamps stamps(uint64_t address, unsigned bytes);
  std::string describe(uint64_t address) const;

private:
  static constexpr size_t kCachedPages = 64, kCachedAllocations = 16;

  struct Known {
    std::shared_ptr<DeviceAllocation> allocation;
    bool isReadOnly = false;
  };

  /// Pages of this thread's earlier launches, by granule size: their stamps are older than any later launch.
  using SparePages = std::array<std::vector<std::unique_ptr<StampPage>>, StampPage::kMaxGranuleShift + 1>;
  static SparePages &sparePages();
  Known lookUp(uint64_t address) const;

  DeviceMemory &memory_;
  const PtxProgram &program_;
  std::array<Known, kCachedAllocations> known_;
  size_t nextKnown_ = 0, lastFound_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<StampPage>> pages_;
  std::array<std::pair<uint64_t, StampPage *>, kCachedPages> recentPages_ = {};
};

} // namespace trainc::emulator
