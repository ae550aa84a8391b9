// A file written once, front to back, checksummed on the way and on disk when close() returns.
#pragma once

#include "runtime/base/status.h"
#include "runtime/state/stream_hash.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace trainc {

/// A new file under construction. An error names the path and the system's reason (kFailed).
class DurableFile {
public:
  /// Creates or truncates `path`.
  static Result<DurableFile> create(const std::filesystem::path &path);

  DurableFile(DurableFile &&other) noexcept;
  DurableFile(const DurableFile &) = delete;
  DurableFile &operator=(DurableFile &&) = delete;
  DurableFile &operator=(const DurableFile &) = delete;
  ~DurableFile();

  /// Appends `bytes`.
  Status write(std::span<const std::byte> bytes);
  /// Syncs to disk and closes; nothing may be written after it.
  Status close();

  /// Bytes written so far.
  uint64_t size() const { return size_; }
  /// XXH3-64 of the bytes written so far; the same as `xxhsum -H3` prints of the file.
  uint64_t checksum() const { return hash_.digest(); }

private:
  DurableFile(std::filesystem::path path, int fd);

  std::filesystem::path path_;
  int fd_;
  uint64_t size_ = 0;
  StreamHash hash_;
};

/// Makes creations, renames and removals in `folder` durable.
Status syncFolder(const std::filesystem::path &folder);

} // namespace trainc
