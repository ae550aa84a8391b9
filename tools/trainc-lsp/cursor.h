// The place in a model's text that an editor asks about.
#pragma once

#include "tools/trainc-lsp/assistance.h"

namespace trainc {

/// The construct that a line of a model's text belongs to.
enum class Enclosing { File, Body, Program };

/// A line, and the word on it at which the cursor is.
struct Cursor {
  explicit Cursor(const TextPlace &place);

  /// The line without its comment, up to the cursor's word.
  llvm::StringRef before() const { return line.take_front(begin); }
  /// The name of the line's op, as `nn.gelu`; empty if it has none.
  llvm::StringRef opName() const;

  llvm::StringRef text, line;
  size_t lineOffset;    ///< offset of the line in the text
  size_t column;        ///< offset of the cursor in the line
  size_t begin;         ///< offset of the cursor's word in the line
  llvm::StringRef word; ///< the whole word; a name begins with % or @, and an op's has a dialect
  Enclosing enclosing;
};

/// The line of the text that begins with `keyword` and `@name`, as `nn.block @layer(%x: tensor<?x?x8xf32>)`.
std::optional<std::string> headingOf(llvm::StringRef text, llvm::StringRef keyword, llvm::StringRef name);

/// The names that follow `keyword` and an @ in the text.
std::vector<std::string> namesOf(llvm::StringRef text, llvm::StringRef keyword);

/// The names of the constants that lines `let name = ...` define.
std::vector<std::string> constantsOf(llvm::StringRef text);

/// The line that defines a constant, without a comment.
std::optional<llvm::StringRef> constantLine(llvm::StringRef text, llvm::StringRef name);

} // namespace trainc
