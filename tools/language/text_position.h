// Context of a position in a model's text.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// Whether a character may be part of a word.
bool isWordCharacter(char c);

/// A position at which a parser failed: the token there or, if it is at the end of a token, the next token.
class TextPosition {
public:
  /// `offset` may be the end of the text.
  TextPosition(llvm::StringRef text, size_t offset);

  /// The word, name, number, quoted text or single character; empty at the end.
  llvm::StringRef token() const { return token_; }
  /// Description of the token for messages: `'nn.gelu'`, `'−' (U+2212)`, `the end of the line`, `the end of
  /// the file`.
  std::string describe() const;
  /// The text from the token on.
  llvm::StringRef rest() const { return text_.substr(at_); }
  /// Offset of the token.
  size_t offset() const { return at_; }
  /// Whether the position is after the last token of a line, and the token on a later line.
  bool isAfterLine() const { return isAfterLine_; }
  bool isAtEnd() const { return token_.empty(); }
  bool isFirstOfLine() const { return before().empty(); }
  /// Text of the token's line before the token, trimmed.
  llvm::StringRef before() const { return lineBefore().trim(); }
  /// Digits immediately before the token.
  llvm::StringRef attachedNumber() const;
  /// Text of the token's line after the token, trimmed and without a comment.
  llvm::StringRef after() const;

  /// Names of all values (%x) that occur earlier in the same block or model; without the %, each once.
  std::vector<llvm::StringRef> valuesBefore() const;

  /// An unclosed `{`.
  struct Unclosed {
    size_t line;           ///< line of the `{`
    llvm::StringRef text;  ///< text of that line
    size_t expectedBefore; ///< offset of the construct that cannot occur within, or the end of the text
  };
  /// The innermost `{` before the token that is not closed before the next block, model or program, or before
  /// the end of the text if the token is there.
  std::optional<Unclosed> findUnclosed() const;
  /// Whether more braces are closed than opened before the token.
  bool isOutsideBraces() const;

private:
  llvm::StringRef lineBefore() const;

  llvm::StringRef text_;
  size_t at_;
  bool isAfterLine_ = false;
  llvm::StringRef token_;
};

} // namespace trainc
