// Arena memory, mapped directly from the operating system.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainc {

/// A private anonymous mapping: zeroed, 2 MiB aligned, huge pages where the system has them, between two
/// inaccessible guard regions. No page exists before it is touched.
class ArenaMapping {
public:
  /// With `reserveOnly`, address space is reserved without asking the system for memory (MAP_NORESERVE), for
  /// dry runs that never touch the memory.
  static Result<ArenaMapping> create(std::string_view name, uint64_t bytes, bool reserveOnly);

  ArenaMapping(ArenaMapping &&other) noexcept;
  ArenaMapping &operator=(ArenaMapping &&) = delete;
  ~ArenaMapping();

  /// Gives up ownership: the mapping stays until the process ends, for threads or devices that may still
  /// access it.
  void abandon() { base_ = nullptr; }

  std::byte *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

private:
  ArenaMapping() = default;

  void *base_ = nullptr;
  uint64_t reserved_ = 0;
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0; ///< usable bytes; the remainder of the last page is not counted
};

/// Total bytes of all `arenas`.
uint64_t bytesOf(std::span<const ArenaMapping> arenas);

} // namespace trainc
