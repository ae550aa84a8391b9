// An arena on disk.
#pragma once

#include "runtime/base/device_address.h"
#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// A file without a name in the folder for temporary files (TMPDIR), which is gone with the process however
/// that ends. Its addresses are address space that nobody can reach, so that they differ from those of
/// memory.
class DiskArena {
public:
  /// Fails (kFailed), naming the arena and the folder, when the disk has no such room.
  static Result<DiskArena> create(std::string_view name, uint64_t bytes);

  DiskArena(DiskArena &&other) noexcept;
  DiskArena &operator=(DiskArena &&) = delete;
  ~DiskArena();

  DeviceAddress address() const { return DeviceAddress(reserved_); }
  bool holds(DeviceAddress address) const {
    return address.value() - this->address().value() < bytes_; // wraps below it
  }
  /// Past the page cache where the file system can: offsets, lengths and the host's addresses should be
  /// multiples of kDiskAlignment, else all transfers go through the cache from then on. Fail (kFailed),
  /// naming the arena, when the disk does.
  Status read(std::span<std::byte> destination, DeviceAddress source) const;
  Status write(DeviceAddress destination, std::span<const std::byte> source) const;

private:
  DiskArena(std::string_view name, int file, void *reserved, uint64_t bytes)
      : name_(name), file_(file), reserved_(reserved), bytes_(bytes) {}

  std::string name_;
  int file_;
  void *reserved_;
  uint64_t bytes_;
};

} // namespace trainc
