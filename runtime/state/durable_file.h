// Files on disk when they are closed: one that several processes fill, and one that appears when it is
// complete.
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

/// A file written beside its place, of a size that is known, and renamed in the end. Where publish() has not
/// succeeded, `path` is as before and nothing is left behind. Errors name path and reason.
class ReplacingFile {
public:
  /// The disk must have room for `bytes` (kFailed), and `path` must not be a device, a pipe or a folder
  /// (kInvalidInput).
  static Result<ReplacingFile> create(const std::filesystem::path &path, uint64_t bytes);

  ReplacingFile(ReplacingFile &&other) noexcept;
  ReplacingFile(const ReplacingFile &) = delete;
  ReplacingFile &operator=(ReplacingFile &&) = delete;
  ReplacingFile &operator=(const ReplacingFile &) = delete;
  ~ReplacingFile();

  Status write(uint64_t offset, std::span<const std::byte> bytes) { return file_.write(offset, bytes); }
  /// Syncs the file to disk and gives it its name; nothing may be written after it.
  Status publish();

private:
  ReplacingFile(std::filesystem::path target, std::filesystem::path aside, DurableFile file)
      : target_(std::move(target)), aside_(std::move(aside)), file_(std::move(file)) {}

  std::filesystem::path target_;
  std::filesystem::path aside_; ///< empty once it is renamed, or moved from
  DurableFile file_;
};

} // namespace trainc
