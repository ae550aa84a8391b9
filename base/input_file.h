// A regular file open for reading.
#pragma once

#include "base/status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace trainc {

/// A regular file with positioned reads. Thread-safe.
class InputFile {
public:
  /// Fails with kInvalidInput if `path` cannot be opened or is not a regular file. Does not block on a pipe.
  static Result<InputFile> open(const std::filesystem::path &path);

  InputFile() = default;
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) noexcept;
  ~InputFile();

  const std::string &path() const { return path_; }
  int descriptor() const { return fd_; }
  /// File size in bytes when it was opened.
  uint64_t size() const { return size_; }

  /// Fills `destination` with the bytes from `offset` on. Fails with kInvalidInput if the file has become too
  /// short since it was opened, and with kFailed if it cannot be read; the message names path and offset.
  Status read(uint64_t offset, std::span<std::byte> destination) const;

private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// Maximum bytes of a text file that is read whole (JSON, keys, vocabularies); larger than any real one.
inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 30;

/// Returns the content of a regular file of at most `maximum` bytes; the bound keeps a wrong file from
/// exhausting memory. Errors are those of InputFile.
Result<std::string> readWholeFile(const std::filesystem::path &path, uint64_t maximum = kMaxTextBytes);

} // namespace trainc
