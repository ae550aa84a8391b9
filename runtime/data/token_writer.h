// Writing a raw token file piece by piece.
#pragma once

#include "runtime/data/token_file.h"

#include <cstdio>
#include <memory>

namespace trainc {

/// Writes aside under a temporary name and renames at the end, so that the file is complete or absent.
class TokenWriter {
public:
  /// `dtype`: kU16 or kU32. Fails where the file cannot be created (kFailed) or must not
  /// be replaced (kInvalidInput, see replaceableFile).
  static Result<TokenWriter> open(std::filesystem::path path, SafetensorsDType dtype);
  TokenWriter(TokenWriter &&) = default;
  TokenWriter &operator=(TokenWriter &&) = delete;
  /// Removes what was written unless it was published.
  ~TokenWriter();

  /// Appends ids, which must fit the dtype. Fails (kFailed) with the system's reason.
  Status write(std::span<const uint32_t> ids);
  /// Brings what was written to the disk. Fails as write().
  Status sync();
  /// Gives the file its name. Fails as write().
  Status publish();
  /// Ids written.
  uint64_t count() const { return count_; }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  TokenWriter(std::filesystem::path path, std::filesystem::path aside, SafetensorsDType dtype,
              std::FILE *file)
      : path_(std::move(path)), aside_(std::move(aside)), dtype_(dtype), file_(file) {}

  Status systemError() const;

  std::filesystem::path path_;
  std::filesystem::path aside_;
  SafetensorsDType dtype_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t count_ = 0;
};

} // namespace trainc
