// Conversion of texts to a token file: `trainc tokenize`.
#pragma once

#include "base/input_file.h"
#include "runtime/data/formats/token_file.h"
#include "runtime/data/tokenizer/tokenizer.h"

#include <functional>

namespace trainc {

/// Reads a text in pieces that encode to the ids of the whole, so that long texts need no memory. The text
/// must be UTF-8. A byte order mark (U+FEFF) at its beginning is left out.
class TextPieces {
public:
  /// `tokenizer` must outlive this object.
  TextPieces(InputFile text, const Tokenizer &tokenizer) : text_(std::move(text)), tokenizer_(tokenizer) {}

  /// The next piece, valid until the next call; its text is empty at the end. Errors are those of
  /// InputFile::read, and kInvalidInput if the text is not UTF-8, which names the byte.
  Result<TextPiece> next();

private:
  /// Moves offset_ past a byte order mark.
  Status skipMark();
  /// Sets utf8_, and fails if what follows is no character.
  Status checkUtf8();

  InputFile text_;
  const Tokenizer &tokenizer_;
  uint64_t first_ = 0;  ///< file offset of the first character
  uint64_t offset_ = 0; ///< file offset of the end of `buffer_`
  std::string buffer_;
  size_t given_ = 0; ///< size of the prefix of `buffer_` that next() has returned
  size_t utf8_ = 0;  ///< size of the prefix of `buffer_` that is whole characters
};

struct TokenizeOptions {
  std::string tokenizer;          ///< "bytes", or a path; see openTokenizer
  std::vector<std::string> texts; ///< files or patterns, in order
  std::string output;             ///< e.g. "tokens.bin"
  std::string endToken;           ///< if set, the token whose id goes after each text, e.g. "<|endoftext|>"
  bool anyText = false;           ///< JSON, HTML, XML and tables are texts like others
  /// If set, called from time to time with the bytes encoded so far and in total; returns false to cancel.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Counts of a token file and of its texts.
struct TokenizedTexts {
  uint64_t files = 0, bytes = 0; ///< of the texts
  uint64_t tokens = 0;
  SafetensorsDType dtype = SafetensorsDType::kU16; ///< of the token file
  uint64_t vocabulary = 0;                         ///< number of ids of the tokenizer
};

/// Writes the tokens of all texts to options.output, raw and little-endian, uint16 if the tokenizer's
/// vocabulary allows, else uint32, and the sidecar beside it. The output is complete or absent. Fails with
/// kInvalidInput if an input is missing or invalid, with kFailed if the output cannot be written or
/// `progress` canceled.
Result<TokenizedTexts> tokenize(const TokenizeOptions &options);

/// Opens the tokenizer that the file `where` (for messages) records. Fails with kInvalidInput if the
/// tokenizer's files are missing or have changed since.
Result<std::unique_ptr<Tokenizer>> openRecordedTokenizer(const TokenizerRecord &record,
                                                         const std::string &where);

} // namespace trainc
