// An arena on disk.
#pragma once

#include "runtime/base/device_address.h"
#include "runtime/base/status.h"
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

/// A file without a name, which is gone with the process however that ends. Its addresses are address space
/// that nobody can reach, so that they differ from those of memory.
class DiskArena {
public:
  /// In `folder`, which --offload-dir names; empty: in that for temporary files, which TMPDIR names. Errors
  /// name the arena, the folder and which of the two to change: kInvalidInput where no files can be made,
  /// kFailed where the disk has no such room.
  static Result<DiskArena> create(std::string_view name, uint64_t bytes,
                                  const std::filesystem::path &folder = {});

  /// The folder in which create() makes the file of a caller that names `folder`.
  static std::filesystem::path folderFor(const std::filesystem::path &folder);

  DiskArena(DiskArena &&other) noexcept;
  DiskArena &operator=(DiskArena &&) = delete;
  ~DiskArena();

  DeviceAddress address() const { return DeviceAddress(reserved_); }
  bool holds(DeviceAddress address) const {
    return address.value() - this->address().value() < bytes_; // wraps below it
  }
  /// Past the page cache where the file system can: offsets, lengths and the host's addresses must be
  /// multiples of kDiskAlignment. Fail (kFailed), naming the arena, when the disk does. For any thread.
  Status read(std::span<std::byte> destination, DeviceAddress source);
  Status write(DeviceAddress destination, std::span<const std::byte> source);
  /// The same for any bytes, through memory of their own in which they are aligned. Writers of neighbouring
  /// bytes take turns.
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
