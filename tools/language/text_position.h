// What stands around a place in a model's text.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace trainc {

/// A place at which a parser did not understand a model's text: the token there or, behind a token, the next
/// one.
class TextPosition {
public:
  /// `offset` may be the text's end.
  TextPosition(llvm::StringRef text, size_t offset);

  /// The word, name, number, text in quotes or single character there; empty at the end.
  llvm::StringRef token() const { return token_; }
  /// The same for messages: `'nn.gelu'`, `'−' (U+2212)`, `the end of the line`, `the end of the file`.
  std::string describe() const;
  /// The text from the token on.
  llvm::StringRef rest() const { return text_.substr(at_); }
  /// Where the token is.
  size_t offset() const { return at_; }
  /// Whether the place is behind the last token of a line, and the token on a later one.
  bool isBehindLine() const { return isBehindLine_; }
  bool isAtEnd() const { return token_.empty(); }
  bool isFirstOfLine() const { return before().empty(); }
  /// What the token's line holds before it, without blanks at both ends.
  llvm::StringRef before() const { return lineBefore().trim(); }
  /// The digits right before the token, without a blank between.
  llvm::StringRef attachedNumber() const;
  /// What the token's line holds behind it, without a comment and blanks at both ends.
  llvm::StringRef behind() const;

  /// The names of all values (%x) that are written in the same block or model before; without the %, each
  /// once.
  std::vector<llvm::StringRef> valuesBefore() const;

  /// A `{` that is not closed where it should be.
  struct Unclosed {
    size_t line;           ///< of the `{`
    llvm::StringRef text;  ///< of that line
    size_t expectedBefore; ///< the offset of what cannot stand within, or the text's end
  };
  /// The innermost `{` before the token that nothing closes before the next block, model or program, or
  /// before the text's end if the token is there.
  std::optional<Unclosed> findUnclosed() const;
  /// Whether more is closed than opened before the token.
  bool isOutsideBraces() const;

private:
  llvm::StringRef lineBefore() const;

  llvm::StringRef text_;
  size_t at_;
  bool isBehindLine_ = false;
  llvm::StringRef token_;
};

} // namespace trainc
