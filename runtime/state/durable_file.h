// Files that are on disk once closed: one that several processes fill, and one that replaces another when
// complete.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace trainc {

/// A file under construction. Errors (kFailed) name the path and the system's reason.
class DurableFile {
public:
  /// Creates or truncates `path` at its final size; the disk must have enough space.
  static Result<DurableFile> create(const std::filesystem::path &path, uint64_t bytes);
  /// Opens a file that another process has created.
  static Result<DurableFile> open(const std::filesystem::path &path);

  DurableFile(DurableFile &&other) noexcept;
  DurableFile(const DurableFile &) = delete;
  DurableFile &operator=(DurableFile &&) = delete;
  DurableFile &operator=(const DurableFile &) = delete;
  ~DurableFile();

  const std::filesystem::path &path() const { return path_; }
  /// Writes all of `bytes` from `offset` on.
  Status write(uint64_t offset, std::span<const std::byte> bytes);
  /// Fills `bytes` with the file's content from `offset` on.
  Status read(uint64_t offset, std::span<std::byte> bytes) const;
  /// Syncs this process's writes to disk and closes the file.
  Status close();

private:
  DurableFile(std::filesystem::path path, int fd);

  std::filesystem::path path_;
  int fd_;
};

/// Writes a whole file and syncs it to disk.
Status writeDurableFile(const std::filesystem::path &path, std::span<const std::byte> bytes);

/// A file of known size, written under a temporary name and renamed at the end. Unless publish() succeeds,
/// `path` is unchanged and the temporary file is removed. Errors name path and reason.
class ReplacingFile {
public:
  /// Fails with kFailed if the disk lacks space for `bytes`, with kInvalidInput if `path` is a device, a pipe
  /// or a folder.
  static Result<ReplacingFile> create(const std::filesystem::path &path, uint64_t bytes);

  ReplacingFile(ReplacingFile &&other) noexcept;
  ReplacingFile(const ReplacingFile &) = delete;
  ReplacingFile &operator=(ReplacingFile &&) = delete;
  ReplacingFile &operator=(const ReplacingFile &) = delete;
  ~ReplacingFile();

  Status write(uint64_t offset, std::span<const std::byte> bytes) { return file_.write(offset, bytes); }
  /// The temporary name.
  const std::filesystem::path &temporary() const { return aside_; }
  /// Syncs the file to disk and renames it; ends writing.
  Status publish();

private:
  ReplacingFile(std::filesystem::path target, std::filesystem::path aside, DurableFile file)
      : target_(std::move(target)), aside_(std::move(aside)), file_(std::move(file)) {}

  std::filesystem::path target_;
  std::filesystem::path aside_; ///< empty after the rename, or if moved from
  DurableFile file_;
};

} // namespace trainc
