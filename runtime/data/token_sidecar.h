// The small JSON file beside a token file that says which tokenizer made it.
#pragma once

#include "runtime/state/safetensors_view.h"

#include <optional>

namespace trainc {

/// The content of `tokens.bin.json`.
struct TokenSidecar {
  std::string tokenizer;   ///< "bytes", or the absolute path given to --tokenizer
  uint64_t vocabulary = 0; ///< number of ids of the tokenizer
  SafetensorsDType dtype = SafetensorsDType::kU16;
  uint64_t tokens = 0;        ///< in the token file
  uint64_t tokenizerXxh3 = 0; ///< Tokenizer::fingerprint(), to notice a tokenizer that changed
};

/// `tokens.bin` -> `tokens.bin.json`.
std::filesystem::path sidecarPath(const std::filesystem::path &tokenFile);

/// The sidecar of a token file; nothing where there is none. Errors (kInvalidInput) name the file and the
/// field.
Result<std::optional<TokenSidecar>> readTokenSidecar(const std::filesystem::path &tokenFile);

/// Writes the sidecar of a token file, atomically.
Status writeTokenSidecar(const std::filesystem::path &tokenFile, const TokenSidecar &sidecar);

} // namespace trainc
