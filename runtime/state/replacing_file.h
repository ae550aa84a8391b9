// A large file that appears when it is complete.
#pragma once

#include "runtime/state/durable_file.h"

namespace trainc {

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
