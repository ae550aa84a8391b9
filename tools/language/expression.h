// Whole-number arithmetic of a model's text: `width / heads`.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trainc {

/// Value of a constant.
struct ConstantValue {
  std::optional<int64_t> whole; ///< none if the value has a point or an exponent
  std::string text;             ///< as the parser reads it: digits, or a number with a point

  static ConstantValue ofWhole(int64_t value) { return {value, std::to_string(value)}; }
};

/// An error at an offset of a text.
struct ExpressionError {
  size_t offset;
  std::string message;
};

/// Returns the value of a constant. Returns null and sets the message for a name that is none.
using ConstantLookup = llvm::function_ref<const ConstantValue *(llvm::StringRef name, std::string &message)>;

/// Reads one expression of numbers, constants, `+ - * /` and parentheses, or one number with a point.
/// Division must be exact.
class ExpressionReader {
public:
  /// The expression begins at offset `at` of `text`, after blanks. `lookup` must outlive the reader.
  ExpressionReader(llvm::StringRef text, size_t at, ConstantLookup lookup)
      : text_(text), at_(at), lookup_(lookup) {}

  /// Returns the value; none after an error.
  std::optional<ConstantValue> read();

  /// Offset of the first character after the expression and blanks.
  size_t end() const { return at_; }
  const ExpressionError &error() const { return error_; }

private:
  std::optional<ConstantValue> readSum();
  std::optional<ConstantValue> readProduct();
  std::optional<ConstantValue> readFactor();
  std::optional<ConstantValue> readNested();
  std::optional<ConstantValue> readNumber(bool isNegative);
  std::optional<ConstantValue> readName();
  std::optional<ConstantValue> apply(char op, size_t at, const ConstantValue &left,
                                     const ConstantValue &right);
  std::nullopt_t fail(size_t offset, const llvm::Twine &message);
  /// Returns the next character that is not blank, without consuming it; 0 at the end and at a comment.
  char peek();

  llvm::StringRef text_;
  size_t at_;
  ConstantLookup lookup_;
  int depth_ = 0; ///< of parentheses and signs
  ExpressionError error_{};
};

} // namespace trainc
