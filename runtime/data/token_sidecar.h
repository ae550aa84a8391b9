// The small JSON file beside a token file that says which tokenizer made it.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <optional>

namespace trainc {

/// Which tokenizer made something.
struct TokenizerRecord {
  std::string name;  ///< "bytes", or the absolute path given to --tokenizer
  uint64_t xxh3 = 0; ///< Tokenizer::fingerprint(), to notice a tokenizer that changed

  bool operator==(const TokenizerRecord &) const = default;
};

/// The content of `tokens.bin.json`.
struct TokenSidecar {
  TokenizerRecord tokenizer;
  uint64_t vocabulary = 0; ///< number of ids of the tokenizer
  SafetensorsDType dtype = SafetensorsDType::kU16;
  uint64_t tokens = 0; ///< in the token file
};

/// `tokens.bin` -> `tokens.bin.json`.
std::filesystem::path sidecarPath(const std::filesystem::path &tokenFile);

/// The sidecar of a token file; nothing where there is none. Errors (kInvalidInput) name the file and the
/// field.
Result<std::optional<TokenSidecar>> readTokenSidecar(const std::filesystem::path &tokenFile);

/// Writes the sidecar of a token file, atomically.
Status writeTokenSidecar(const std::filesystem::path &tokenFile, const TokenSidecar &sidecar);

} // namespace trainc
