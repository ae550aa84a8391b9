#include "tools/language/expression.h"

#include "dialects/NN/Syntax.h"
#include "tools/language/text_position.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace trainc {

namespace {

/// Nesting of parentheses and signs at most, because each level is a call.
constexpr int kMaxNesting = 100;

/// Returns a number with a point, which MLIR's syntax of floats requires: 1e-5 becomes 1.0e-5.
std::string withPoint(StringRef number) {
  if (number.contains('.'))
    return number.str();
  const size_t exponent = number.find_first_of("eE");
  return (number.take_front(exponent) + ".0" + number.drop_front(exponent)).str();
}

} // namespace

std::nullopt_t ExpressionReader::fail(size_t offset, const llvm::Twine &message) {
  error_ = {offset, message.str()};
  return std::nullopt;
}

char ExpressionReader::peek() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
    ++at_;
  return at_ >= text_.size() || text_.substr(at_).starts_with("//") ? '\0' : text_[at_];
}

std::optional<ConstantValue> ExpressionReader::read() {
  std::optional<ConstantValue> value = readSum();
  peek(); // skips blanks
  return value;
}

std::optional<ConstantValue> ExpressionReader::apply(char op, size_t at, const ConstantValue &left,
                                                     const ConstantValue &right) {
  const std::string shown = left.text + " " + op + " " + right.text;
  for (const ConstantValue *each : {&left, &right})
    if (!each->whole)
      return fail(at, "expected whole numbers on both sides of '" + llvm::Twine(op) + "', found " +
                          each->text + "; numbers with a point are not computed with");
  int64_t result = 0;
  bool overflows = false;
  switch (op) {
  case '+':
    overflows = __builtin_add_overflow(*left.whole, *right.whole, &result);
    break;
  case '-':
    overflows = __builtin_sub_overflow(*left.whole, *right.whole, &result);
    break;
  case '*':
    overflows = __builtin_mul_overflow(*left.whole, *right.whole, &result);
    break;
  default:
    if (*right.whole == 0)
      return fail(at, shown + " divides by zero");
    overflows = *left.whole == INT64_MIN && *right.whole == -1;
    if (!overflows && *left.whole % *right.whole != 0)
      return fail(at, shown + " is not a whole number");
    result = overflows ? 0 : *left.whole / *right.whole;
  }
  if (overflows)
    return fail(at, describeOutOfRange(llvm::Twine(INT64_MIN), llvm::Twine(INT64_MAX), shown));
  return ConstantValue::ofWhole(result);
}

std::optional<ConstantValue> ExpressionReader::readSum() {
  std::optional<ConstantValue> value = readProduct();
  for (char op; value && ((op = peek()) == '+' || op == '-');) {
    const size_t at = at_++;
    const std::optional<ConstantValue> right = readProduct();
    value = right ? apply(op, at, *value, *right) : std::nullopt;
  }
  return value;
}

std::optional<ConstantValue> ExpressionReader::readProduct() {
  std::optional<ConstantValue> value = readFactor();
  for (char op; value && ((op = peek()) == '*' || op == '/');) {
    const size_t at = at_++;
    const std::optional<ConstantValue> right = readFactor();
    value = right ? apply(op, at, *value, *right) : std::nullopt;
  }
  return value;
}

std::optional<ConstantValue> ExpressionReader::readFactor() {
  peek();
  if (depth_ == kMaxNesting)
    return fail(at_, "parentheses and signs are nested more than " + llvm::Twine(kMaxNesting) + " deep");
  ++depth_;
  std::optional<ConstantValue> value = readNested();
  --depth_;
  return value;
}

std::optional<ConstantValue> ExpressionReader::readNested() {
  const char first = peek();
  const size_t begin = at_;
  if (first == '-') {
    ++at_;
    if (llvm::isDigit(peek()))
      return readNumber(/*isNegative=*/true);
    const std::optional<ConstantValue> value = readFactor();
    if (value && !value->whole) {
      StringRef magnitude = value->text;
      return ConstantValue{std::nullopt, ((magnitude.consume_front("-") ? "" : "-") + magnitude).str()};
    }
    return value ? apply('-', begin, ConstantValue::ofWhole(0), *value) : std::nullopt;
  }
  if (first == '(') {
    ++at_;
    std::optional<ConstantValue> value = readSum();
    if (!value)
      return std::nullopt;
    if (peek() != ')')
      return fail(at_, "expected an operator or ')', found " + TextPosition(text_, at_).describe());
    ++at_;
    return value;
  }
  if (llvm::isDigit(first))
    return readNumber(/*isNegative=*/false);
  if (llvm::isAlpha(first) || first == '_')
    return readName();
  const StringRef advice =
      first == '$' ? "; within an expression, names of constants are written without $" : "";
  return fail(begin, "expected a number, a constant or '(', found " + TextPosition(text_, begin).describe() +
                         advice);
}

std::optional<ConstantValue> ExpressionReader::readNumber(bool isNegative) {
  const size_t begin = at_;
  const StringRef number = numberPrefix(text_.substr(at_));
  at_ += number.size();
  const std::string text = (isNegative ? "-" : "") + number.str();
  if (at_ < text_.size() && (isWordCharacter(text_[at_])))
    return fail(begin, "expected a number, found '" + text_.substr(begin).take_while(isWordCharacter) + "'");
  if (!llvm::all_of(number, llvm::isDigit))
    return ConstantValue{std::nullopt, withPoint(text)};
  int64_t value = 0;
  if (StringRef(text).getAsInteger(10, value))
    return fail(begin, describeOutOfRange(llvm::Twine(INT64_MIN), llvm::Twine(INT64_MAX), text));
  return ConstantValue::ofWhole(value);
}

std::optional<ConstantValue> ExpressionReader::readName() {
  const size_t begin = at_;
  const StringRef name = text_.substr(at_).take_while(isWordCharacter);
  at_ += name.size();
  std::string message;
  const ConstantValue *value = lookup_(name, message);
  if (!value)
    return fail(begin, message);
  return *value;
}

} // namespace trainc
