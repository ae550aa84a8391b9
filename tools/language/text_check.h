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

/// Describes the first byte or character of `file` that a message must not show: invalid UTF-8, control
/// characters except space, and characters that change the direction of text. Nothing if there is none.
std::optional<std::string> describeNonText(llvm::StringRef text, llvm::StringRef file);

/// Finds nested brackets and long numbers for which the parser would run out of stack or time. The parser
/// recurses into brackets, also those of aliases, and into affine expressions. Its time for a number grows
/// with the square of the number's digits.
std::optional<TextProblem> findUnparsable(llvm::StringRef text);

/// Finds the problems of findUnparsable(), and numbers that the parser would silently change. The parser
/// reads whole numbers of N bits as signed, so that the largest becomes -1. It reads floating-point numbers
/// as infinite if they are too large, and as 0 if they are too small.
std::optional<TextProblem> findBadText(llvm::StringRef text);

/// Returns the text with blanks instead of the digits that make numbers too long.
std::string withoutLongNumbers(llvm::StringRef text);

/// Returns the offset of a problem in its text.
size_t offsetOf(const TextProblem &problem, llvm::StringRef text);

/// Returns `problem` as a message about `file`.
std::string describe(const TextProblem &problem, llvm::StringRef file);

} // namespace trainc
