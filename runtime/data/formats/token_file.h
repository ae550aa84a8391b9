// Token files: writing, the names of their types, and the JSON sidecar.
#pragma once

#include "base/hash.h"
#include "runtime/formats/safetensors_view.h"

#include <cstdio>
#include <memory>
#include <optional>

namespace trainc {

/// Identifies a tokenizer.
struct TokenizerRecord {
  std::string name;          ///< "bytes", or the absolute path given to --tokenizer
  uint64_t xxh3 = 0;         ///< Tokenizer::fingerprint(), to detect changes
  std::string endToken = {}; ///< content of the token that ends each text; empty if there is none

  bool operator==(const TokenizerRecord &) const = default;
};

/// Content of `tokens.bin.json`.
struct TokenSidecar {
  TokenizerRecord tokenizer;
  uint64_t vocabulary = 0; ///< number of ids of the tokenizer
  SafetensorsDType dtype = SafetensorsDType::kU16;
  uint64_t tokens = 0;                  ///< number of tokens in the file
  std::optional<uint64_t> content = {}; ///< XXH3-64 of the token file; earlier versions recorded none
};

/// `tokens.bin` -> `tokens.bin.json`.
std::filesystem::path sidecarPath(const std::filesystem::path &tokenFile);

/// Reads the sidecar of a token file; nothing if there is none. Errors (kInvalidInput) name the file and the
/// field.
Result<std::optional<TokenSidecar>> readTokenSidecar(const std::filesystem::path &tokenFile);

/// Writes the sidecar of a token file, atomically.
Status writeTokenSidecar(const std::filesystem::path &tokenFile, const TokenSidecar &sidecar);

/// Options for reading raw token files.
struct TokenFileOptions {
  std::optional<SafetensorsDType> dtype; ///< kU8, kU16 or kU32 (--data-dtype); must not contradict the file
  uint64_t vocabulary = 0;               ///< of the model; above 65536 raw tokens are uint32, else uint16
};

/// Parses "uint8", "uint16" or "uint32".
Result<SafetensorsDType> parseTokenDType(std::string_view name);
/// Inverse of parseTokenDType.
std::string_view tokenDTypeName(SafetensorsDType dtype);

/// Writes a token file under a temporary name and renames it at the end, so that the file is complete or
/// absent.
class TokenWriter {
public:
  /// `dtype` is kU16 or kU32. Fails with kFailed if the file cannot be created, with kInvalidInput if it must
  /// not be replaced (see replaceableFile).
  static Result<TokenWriter> open(std::filesystem::path path, SafetensorsDType dtype);
  TokenWriter(TokenWriter &&) = default;
  TokenWriter &operator=(TokenWriter &&) = delete;
  /// Removes the temporary file unless it was published.
  ~TokenWriter();

  /// Appends ids, which must fit the dtype. Fails with kFailed and the system's reason.
  Status write(std::span<const uint32_t> ids);
  /// Syncs the file to disk. Fails like write().
  Status sync();
  /// Renames the file to its final name. Fails like write().
  Status publish();
  /// XXH3-64 of the bytes written.
  uint64_t checksum() const { return hash_.digest(); }
  /// Ids written.
  uint64_t count() const { return count_; }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  TokenWriter(std::filesystem::path path, std::filesystem::path aside, SafetensorsDType dtype,
              std::FILE *file)
      : path_(std::move(path)), aside_(std::move(aside)), dtype_(dtype), file_(file) {}

  template <typename Id> Status writeBytes(std::span<const Id> ids);
  Status systemError() const;

  std::filesystem::path path_;
  std::filesystem::path aside_;
  SafetensorsDType dtype_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t count_ = 0;
  StreamHash hash_;
};

} // namespace trainc
