// A regular file open for reading.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace trainc {

/// A file whose bytes are read where they are asked for. Reading is thread-safe.
class InputFile {
public:
  /// Fails (kInvalidInput) when `path` cannot be opened or is not a regular file; a pipe is not waited for.
  static Result<InputFile> open(const std::filesystem::path &path);

  InputFile() = default;
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) noexcept;
  ~InputFile();

  const std::string &path() const { return path_; }
  int descriptor() const { return fd_; }
  /// Bytes of the file when it was opened.
  uint64_t size() const { return size_; }

  /// Fills `destination` with the bytes from `offset` on. Fails where the file has become too short since it
  /// was opened (kInvalidInput), or cannot be read (kFailed); path and byte are named.
  Status read(uint64_t offset, std::span<std::byte> destination) const;

private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// More than any text has that is read whole: JSON, keys, words of a tokenizer.
inline constexpr uint64_t kMostTextBytes = uint64_t{1} << 30;

/// The whole content of a regular file of at most `most` bytes, so that a wrong file takes nobody's memory.
/// Errors are those of InputFile.
Result<std::string> readWholeFile(const std::filesystem::path &path, uint64_t most = kMostTextBytes);

} // namespace trainc
