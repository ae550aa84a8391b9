// Texts to a token file: `trainc tokenize`.
#pragma once

#include "runtime/base/input_file.h"
#include "runtime/data/token_file.h"
#include "runtime/data/tokenizer/tokenizer.h"

#include <functional>

namespace trainc {

/// Reads a text in pieces that encode to the ids of the whole, so that long texts need no memory.
class TextPieces {
public:
  /// The pieces of `text` for `tokenizer`, which must outlive this.
  TextPieces(InputFile text, const Tokenizer &tokenizer) : text_(std::move(text)), tokenizer_(tokenizer) {}

  /// The next piece, valid until the next call; empty at the end. Errors are those of InputFile::read.
  Result<std::string_view> next();

private:
  InputFile text_;
  const Tokenizer &tokenizer_;
  uint64_t offset_ = 0; ///< of what comes after `buffer_`
  std::string buffer_;
  size_t given_ = 0; ///< bytes at the start of `buffer_` that next() has returned
};

struct TokenizeOptions {
  std::string tokenizer;          ///< "bytes", or a path; see openTokenizer
  std::vector<std::string> texts; ///< files or patterns, in order
  std::string output;             ///< e.g. "tokens.bin"
  std::string endToken;           ///< where not empty: its id goes after each text, e.g. "<|endoftext|>"
  /// Where set, called now and then with the bytes encoded so far and in total; false ends the work.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Writes the tokens of all texts to options.output, raw and little-endian, uint16 where the tokenizer's
/// vocabulary allows, else uint32, and the sidecar beside it. The output appears when it is
/// complete; nothing is left behind otherwise. Fails with kInvalidInput where an input is missing or wrong,
/// kFailed where the output cannot be written, or `progress` ended the work.
Status tokenize(const TokenizeOptions &options);

/// The tokenizer that the file `where` (for messages) records. Fails (kInvalidInput) where its files are
/// missing or have changed since.
Result<std::unique_ptr<Tokenizer>> openRecordedTokenizer(const TokenizerRecord &record,
                                                         const std::string &where);

} // namespace trainc
