// A file mapped read-only into memory.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace trainc {

/// A read-only, shared mapping of a whole regular file; unmapped on destruction. Pages are read when touched.
/// An empty file gives an empty span. A file that becomes shorter ends the process by SIGBUS where its lost
/// pages are read: map only what is read once and is too large to copy.
class MappedFile {
public:
  /// Maps `path`. Fails (kInvalidInput) when it cannot be opened or is not a regular file.
  static Result<MappedFile> open(const std::filesystem::path &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

} // namespace trainc
