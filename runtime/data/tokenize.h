// Texts to a token file: `trainc tokenize`.
#pragma once

#include "runtime/data/token_sidecar.h"
#include "runtime/data/tokenizer/tokenizer.h"

#include <functional>

namespace trainc {

struct TokenizeOptions {
  std::string tokenizer;          ///< "bytes", or a path; see openTokenizer
  std::vector<std::string> texts; ///< files or patterns, in order
  std::string output;             ///< e.g. "tokens.bin"
  std::string endToken;           ///< where not empty: its id goes after each text, e.g. "<|endoftext|>"
  /// Where set, called now and then with the bytes encoded so far and in total; false ends the work.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Writes the tokens of all texts to options.output, raw and little-endian, uint16 where the tokenizer's
/// vocabulary allows, else uint32, and the sidecar (token_sidecar.h) beside it. The output appears when it is
/// complete; nothing is left behind otherwise. Fails with kInvalidInput where an input is missing or wrong,
/// kFailed where the output cannot be written, or `progress` ended the work.
Status tokenize(const TokenizeOptions &options);

/// The tokenizer that the file `where` (for messages) records. Fails (kInvalidInput) where its files are
/// missing or have changed since.
Result<std::unique_ptr<Tokenizer>> openRecordedTokenizer(const TokenizerRecord &record,
                                                         const std::string &where);

} // namespace trainc
