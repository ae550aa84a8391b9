// Files that hold one long stream of tokens.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <optional>

namespace trainc {

/// How to read raw token files.
struct TokenFileOptions {
  std::optional<SafetensorsDType> dtype; ///< kU8, kU16 or kU32 (--data-dtype); must not contradict the file
  uint64_t vocabulary = 0;               ///< the model's; above 65536 raw tokens are uint32, else uint16
};

/// A file's first bytes up to here decide how to read it.
inline constexpr size_t kTokenHeaderBytes = 1024;

/// Where a file holds a stream of little-endian tokens.
struct TokenStream {
  SafetensorsDType dtype; ///< kU8, kU16 or kU32
  uint64_t fileOffset;    ///< of the first token, in bytes
  uint64_t count;
};

/// Reads "uint8", "uint16" or "uint32".
Result<SafetensorsDType> parseTokenDType(std::string_view name);
/// The inverse of parseTokenDType.
std::string_view tokenDTypeName(SafetensorsDType dtype);

/// Interprets the token file `path`, which begins with `head` (kTokenHeaderBytes of it, or all) and has
/// `fileBytes` bytes:
///  * llm.c's format where it starts with the magic number 20240520: 256 int32 of header (magic, version 1
///    for uint16 or 7 for uint32, number of tokens), then the tokens;
///  * raw tokens otherwise. Their width is what `PATH.json`, which `trainc tokenize` writes, says, else
///    options.dtype, else it follows from options.vocabulary. Where there is such a JSON file, the number of
///    tokens must be the one it says, and options.dtype the same.
/// Errors (kInvalidInput) name the file, the byte offset and the sizes expected and found.
Result<TokenStream> readTokenStream(const std::filesystem::path &path, std::span<const std::byte> head,
                                    uint64_t fileBytes, const TokenFileOptions &options);

} // namespace trainc
