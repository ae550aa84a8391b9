// A text file read in pieces.
#pragma once

#include "runtime/base/input_file.h"
#include "runtime/data/tokenizer/tokenizer.h"

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

} // namespace trainc
