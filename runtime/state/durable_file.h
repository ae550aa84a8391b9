// A file that one or several processes fill, on disk when close() returns.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace trainc {

/// A file under construction. An error names the path and the system's reason (kFailed).
class DurableFile {
public:
  /// Creates or truncates `path` at its final size, for which the disk must have room.
  static Result<DurableFile> create(const std::filesystem::path &path, uint64_t bytes);
  /// Opens what another process has created.
  static Result<DurableFile> open(const std::filesystem::path &path);

  DurableFile(DurableFile &&other) noexcept;
  DurableFile(const DurableFile &) = delete;
  DurableFile &operator=(DurableFile &&) = delete;
  DurableFile &operator=(const DurableFile &) = delete;
  ~DurableFile();

  const std::filesystem::path &path() const { return path_; }
  /// Writes all of `bytes` from `offset` on.
  Status write(uint64_t offset, std::span<const std::byte> bytes);
  /// Fills all of `bytes` with what was written from `offset` on.
  Status read(uint64_t offset, std::span<std::byte> bytes) const;
  /// Syncs what this process wrote to disk and closes; nothing may be written after it.
  Status close();

private:
  DurableFile(std::filesystem::path path, int fd);

  std::filesystem::path path_;
  int fd_;
};

/// Writes a whole file; on disk when it returns.
Status writeDurableFile(const std::filesystem::path &path, std::span<const std::byte> bytes);

} // namespace trainc
