// An arena on disk.
#pragma once

#include "base/device_address.h"
#include "base/status.h"
#include "runtime/device/disk_ring.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// An unnamed temporary file, deleted when the process ends for whatever reason. Its addresses are reserved,
/// inaccessible address space, so that they differ from all memory addresses.
class DiskArena {
public:
  /// Creates the file in `folder` (--offload-dir) or, if empty, in the folder for temporary files (TMPDIR).
  /// Errors name the arena, the folder and the setting to change: kInvalidInput if no files can be created
  /// there, kFailed if the disk lacks space.
  static Result<DiskArena> create(std::string_view name, uint64_t bytes,
                                  const std::filesystem::path &folder = {});

  /// The folder that create() uses for the argument `folder`.
  static std::filesystem::path folderFor(const std::filesystem::path &folder);

  DiskArena(DiskArena &&other) noexcept;
  DiskArena &operator=(DiskArena &&) = delete;
  ~DiskArena();

  DeviceAddress address() const { return DeviceAddress(reserved_); }
  bool holds(DeviceAddress address) const {
    return address.value() - this->address().value() < bytes_; // wraps around for addresses below
  }
  /// Direct I/O where the file system supports it: offsets, lengths and host addresses must be multiples of
  /// kDiskAlignment. Fail with kFailed, naming the arena, on a disk error. Thread-safe.
  Status read(std::span<std::byte> destination, DeviceAddress source);
  Status write(DeviceAddress destination, std::span<const std::byte> source);
  /// Unaligned variants, which copy through an aligned buffer. Writes to the same blocks are serialised.
  Status readBytes(std::span<std::byte> destination, DeviceAddress source);
  Status writeBytes(DeviceAddress destination, std::span<const std::byte> source);

private:
  DiskArena(std::string_view name, int file, void *reserved, uint64_t bytes)
      : name_(name), file_(file), reserved_(reserved), bytes_(bytes) {}
  template <typename Transfer> Status transfer(const char *verb, uint64_t bytes, Transfer transfer);

  std::string name_;
  int file_;
  void *reserved_;
  uint64_t bytes_;
  DiskRing ring_;
  std::unique_ptr<std::mutex> unaligned_ = std::make_unique<std::mutex>();
};

} // namespace trainc
