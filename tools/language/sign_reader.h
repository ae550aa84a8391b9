// Places in a model's text that MLIR's parser does not know: `let`, `import`, `$name`.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace trainc {

/// A place that expansion looks at.
struct Sign {
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

/// Iterates over the signs of a text. Comments, quoted texts and names that begin with one of `%#!^` have no
/// signs.
class SignReader {
public:
  SignReader(llvm::StringRef text, size_t begin) : text_(text), at_(begin) {}

  Sign next();
  /// Continues at a later offset.
  void skipTo(size_t offset) { at_ = offset; }
  /// Number of open braces.
  int depth() const { return depth_; }

private:
  bool skipPlain();
  std::optional<Sign> wordSign();
  llvm::StringRef takeSymbol();
  bool isFirstOfLine() const;

  llvm::StringRef text_;
  size_t at_;
  int depth_ = 0;
};

} // namespace trainc
