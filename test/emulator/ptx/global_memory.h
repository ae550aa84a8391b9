// Memory that all blocks of a launch see, and who accessed it.
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

/// Bytes, and which of them were written: 0 never, 1 written, 2 an asynchronous copy is on its way.
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

  /// No bytes: they do not lie in one allocation.
  Place find(uint64_t address, uint64_t bytes);
  /// Of bytes from an address on that is aligned to their number, 32 at most.
  Stamps stamps(uint64_t address, unsigned bytes);
  std::string describe(uint64_t address) const;

private:
  static constexpr size_t kCachedPages = 64, kCachedAllocations = 16;

  struct Known {
    std::shared_ptr<DeviceAllocation> allocation;
    bool isReadOnly = false;
  };

  /// Pages of earlier launches of this thread, by their granules: their stamps are older than any launch to
  /// come.
  using SparePages = std::array<std::vector<std::unique_ptr<StampPage>>, StampPage::kMostGranuleShift + 1>;
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
