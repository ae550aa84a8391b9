// Check of MLIR text before it is parsed.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace trainc {

/// An error in a text.
struct TextProblem {
  size_t line, column; ///< both from 1
  std::string message;
};

/// Finds what the parser has no stack or time for. It recurses into brackets, also by way of aliases, and
/// into affine expressions; and the time that it takes for a number grows with the square of its digits.
std::optional<TextProblem> findUnparsable(llvm::StringRef text);

/// The same, and numbers that the parser would change without a word. It reads whole numbers of N bits as
/// signed ones, which makes -1 of the largest, and floating-point numbers as infinite or 0 if they are too
/// large or too small.
std::optional<TextProblem> findBadText(llvm::StringRef text);

/// The text with blanks in place of the digits that make numbers too long.
std::string withoutLongNumbers(llvm::StringRef text);

/// `problem` as a message about `file`.
std::string describe(const TextProblem &problem, llvm::StringRef file);

} // namespace trainc
