// A file mapped read-only into memory.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// A read-only, shared mapping of a whole regular file; unmapped on destruction. Pages are read on first
/// access. An empty file gives an empty span. Use it only for files that are read once and are too large to
/// copy.
class MappedFile {
public:
  /// Maps `path`. Fails with kInvalidInput if `path` cannot be opened or is not a regular file.
  static Result<MappedFile> open(const std::filesystem::path &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Whether a page that was read held zeros instead of the file's bytes, because the file was truncated or
  /// its disk failed. Ask after all bytes are read.
  bool isLost() const;

private:
  MappedFile(std::span<const std::byte> bytes, size_t watch) : bytes_(bytes), watch_(watch) {}

  std::span<const std::byte> bytes_;
  size_t watch_ = 0; ///< index of the mapping in the table of the signal handler
};

/// Installs a SIGBUS handler: after an access to a lost page of a MappedFile the process continues, and the
/// rest of the mapping reads as zeros. Any other SIGBUS still ends the process. Call it once, at the start of
/// main().
void surviveLostPages();

/// The error for a file that isLost(): "weights.bin: the file became shorter, ...".
Status lostPages(const std::string &path);

} // namespace trainc
