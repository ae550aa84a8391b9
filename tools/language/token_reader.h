// Tokens of a model's text that expansion handles: `let`, `import`, `$name`, names of blocks, braces.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace trainc {

/// A token that expansion handles.
struct Token {
  enum Kind {
    Let,    ///< the word `let` at the begin of a line
    Import, ///< the word `import` at the begin of a line
    Block,  ///< `nn.block @name` outside of braces
    Symbol, ///< another `@name`
    Dollar, ///< a `$` that is no part of a name of MLIR's
    Open,   ///< `{`
    Close,  ///< `}`
    End     ///< the end of the text
  };
  Kind kind;
  size_t begin;         ///< offset of the first character
  size_t end;           ///< offset after the last character
  llvm::StringRef name; ///< of blocks and symbols, without quotes
};

/// Iterates over those tokens of a text. Comments, quoted texts and names that begin with one of `%#!^` are
/// skipped.
class TokenReader {
public:
  TokenReader(llvm::StringRef text, size_t begin) : text_(text), at_(begin) {}

  Token next();
  /// Continues at a later offset.
  void skipTo(size_t offset) { at_ = offset; }
  /// Number of open braces.
  int depth() const { return depth_; }

private:
  bool skipPlain();
  std::optional<Token> wordToken();
  llvm::StringRef takeSymbol();
  bool isFirstOfLine() const;

  llvm::StringRef text_;
  size_t at_;
  int depth_ = 0;
};

} // namespace trainc
