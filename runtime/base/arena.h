// Memory of an arena, straight from the operating system.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace trainc {

/// A private anonymous mapping: zeroed, 2 MiB aligned, huge pages where the system has them, between two
/// inaccessible guard regions. No page exists before it is touched.
class ArenaMapping {
public:
  /// `reserveOnly` does not ask the system whether it has the memory; for dry runs, which leave it untouched.
  static Result<ArenaMapping> create(std::string_view name, uint64_t bytes, bool reserveOnly);

  ArenaMapping(ArenaMapping &&other) noexcept;
  ArenaMapping &operator=(ArenaMapping &&) = delete;
  ~ArenaMapping();

  /// Leaves the mapping where it is until the process ends, for whoever may still access it.
  void abandon() { base_ = nullptr; }

  std::byte *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

private:
  ArenaMapping() = default;

  void *base_ = nullptr;
  uint64_t reserved_ = 0;
  std::byte *data_ = nullptr;
  uint64_t bytes_ = 0; ///< that may be touched; the rest of their last page is not counted
};

/// Of all of them together.
uint64_t bytesOf(std::span<const ArenaMapping> arenas);

} // namespace trainc
