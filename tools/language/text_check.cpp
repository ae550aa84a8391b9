#include "tools/language/text_check.h"

#include "base/plain_text.h"
#include "dialects/NN/Syntax.h"
#include "tools/language/text_position.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

using llvm::StringRef;

namespace trainc {

namespace {

constexpr int kMaxDepth = 500;
/// Each operator of an affine expression is one level; realistic maps are far shorter.
constexpr size_t kMaxAffineBytes = 1000;
/// Digits of a number at most. All digits that tell a number of f64 from its neighbours are fewer.
constexpr size_t kMaxDigits = 1000;
/// Bits of a whole number whose type is not written.
constexpr unsigned kPlainBits = 64;

/// Counts brackets of all kinds. Unbalanced brackets are left to the parser.
class Depth {
public:
  int total() const { return std::accumulate(counts_.begin(), counts_.end(), 0); }

  void see(char c) {
    const size_t at = kBrackets.find(c);
    if (at == StringRef::npos)
      return;
    int &count = counts_[at / 2];
    count = at % 2 == 0 ? count + 1 : std::max(0, count - 1);
  }

private:
  static constexpr StringRef kBrackets = "()[]{}<>";

  std::array<int, 4> counts_{}; ///< for each kind of bracket
};

class Scanner {
public:
  Scanner(StringRef text, bool checksValues) : text_(text), checksValues_(checksValues) {}

  std::optional<TextProblem> scan();

private:
  bool skipText();
  std::optional<TextProblem> seeWord();
  std::optional<TextProblem> seeNumber();
  std::optional<TextProblem> checkWhole(StringRef digits, size_t start) const;
  std::optional<TextProblem> checkReal(StringRef number, size_t start) const;
  bool isNegative(size_t start) const { return text_.take_front(start).rtrim(" \t").ends_with("-"); }
  void endWord(char sign);
  std::optional<TextProblem> seeSign();
  std::optional<TextProblem> checkDepth(int depth);
  TextProblem problemAt(size_t offset, const llvm::Twine &message) const {
    return {line_, offset - lineStart_ + 1, message.str()};
  }

  StringRef text_;
  bool checksValues_;
  size_t at_ = 0, line_ = 1, lineStart_ = 0;
  StringRef last_; ///< the preceding word, separated only by space
  Depth depth_;
  llvm::StringMap<int> aliases_; ///< nesting depth of each alias
  int *defined_ = nullptr;       ///< entry of the alias defined last
  size_t affineStart_ = 0;       ///< begin of the current affine map or set
  int aroundAffine_ = -1;        ///< depth at its begin; -1 outside of one
};

} // namespace

std::optional<TextProblem> Scanner::checkDepth(int depth) {
  if (defined_)
    *defined_ = std::max(*defined_, depth);
  if (depth <= kMaxDepth)
    return std::nullopt;
  return problemAt(at_, "brackets are nested more than " + llvm::Twine(kMaxDepth) + " deep");
}

/// Skips a string or a comment.
bool Scanner::skipText() {
  if (text_.substr(at_).starts_with("//")) {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }
  if (text_[at_] != '"')
    return false;
  for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
    if (text_[at_] == '\\')
      ++at_;
  at_ = std::min(at_ < text_.size() && text_[at_] == '"' ? at_ + 1 : at_, text_.size());
  return true;
}

namespace {

/// The length of the longest run of digits.
size_t longestNumber(StringRef word) {
  size_t longest = 0;
  while (!(word = word.drop_until(llvm::isDigit)).empty()) {
    const size_t length = word.take_while(llvm::isDigit).size();
    longest = std::max(longest, length);
    word = word.drop_front(length);
  }
  return longest;
}

/// A type iN, siN or uiN.
struct IntegerType {
  bool isUnsigned = false;
  unsigned bits = kPlainBits;
};

/// The type that stands after a number, in `rest`, i64 if none is written; nothing if the type is none of
/// integers.
std::optional<IntegerType> typeAfter(StringRef rest) {
  rest = rest.ltrim(" \t");
  if (!rest.consume_front(":"))
    return IntegerType();
  StringRef name = rest.ltrim(" \t").take_while(isWordCharacter);
  IntegerType type{.isUnsigned = name.consume_front("u"), .bits = 0};
  if (!type.isUnsigned)
    name.consume_front("s");
  return name.consume_front("i") && !name.getAsInteger(10, type.bits) && type.bits > 0 ? std::optional(type)
                                                                                       : std::nullopt;
}

std::string numberText(const llvm::APInt &number, bool isSigned) {
  llvm::SmallString<64> text;
  number.toString(text, 10, isSigned);
  return text.str().str();
}

} // namespace

std::optional<TextProblem> Scanner::seeWord() {
  const size_t start = at_++;
  at_ += text_.substr(at_).take_while(isWordCharacter).size();
  last_ = text_.slice(start, at_);
  if (const size_t length = longestNumber(last_); length > kMaxDigits)
    return problemAt(start, "expected a number of at most " + llvm::Twine(kMaxDigits) +
                                " digits, found one of " + llvm::Twine(length));
  const auto alias = aliases_.find(last_);
  return alias == aliases_.end() ? std::nullopt : checkDepth(depth_.total() + alias->second);
}

std::optional<TextProblem> Scanner::checkWhole(StringRef digits, size_t start) const {
  const bool isHex = digits.starts_with("0x");
  const std::optional<IntegerType> type = typeAfter(text_.substr(start + digits.size()));
  if (isHex && !type)
    return std::nullopt; // the bits of a floating-point number
  const auto [isUnsigned, bits] = type.value_or(IntegerType());
  if (bits > 4 * kMaxDigits)
    return std::nullopt; // which is enough for every number that is not too long
  const bool negative = isNegative(start);
  llvm::APInt number;
  (isHex ? digits.drop_front(2) : digits).getAsInteger(isHex ? 16 : 10, number);
  number = number.zext(std::max(number.getBitWidth(), bits) + 2);
  if (negative)
    number.negate();
  const unsigned width = number.getBitWidth();
  const bool isTruth = bits == 1 && !isUnsigned; // 1 : i1 is true
  const llvm::APInt min =
      isUnsigned ? llvm::APInt(width, 0) : llvm::APInt::getSignedMinValue(bits).sext(width);
  const llvm::APInt max = isUnsigned || isTruth ? llvm::APInt::getMaxValue(bits).zext(width)
                                                : llvm::APInt::getSignedMaxValue(bits).sext(width);
  if (number.sge(min) && number.sle(max))
    return std::nullopt;
  const bool isPlain = bits == kPlainBits && !isUnsigned;
  const std::string found = (llvm::Twine(negative ? "-" : "") + digits).str();
  return problemAt(
      start,
      describeOutOfRange(numberText(min, true), numberText(max, true), found) +
          (isPlain
               ? "; a larger number, where it may have a fraction, is written with a point, such as 1.0e30"
               : ""));
}

std::optional<TextProblem> Scanner::checkReal(StringRef number, size_t start) const {
  const double value = std::strtod(number.str().c_str(), nullptr);
  const StringRef digits = number.take_until([](char c) { return c == 'e' || c == 'E'; });
  const bool isZero = digits.find_first_of("123456789") == StringRef::npos;
  const auto check = [&](double rounded, StringRef type) -> std::optional<TextProblem> {
    const std::string found = ("expected a number of " + type + ", found " + number).str();
    if (std::isinf(rounded))
      return problemAt(start, found + ", which is infinite there");
    if (rounded == 0 && !isZero)
      return problemAt(start, found + ", which is 0 there; write 0, or a larger number");
    return std::nullopt;
  };
  if (std::optional<TextProblem> problem = check(value, "f64"))
    return problem;
  StringRef type = text_.substr(start + number.size()).ltrim(' ');
  const bool isF32 = type.consume_front(":") && type.ltrim(' ').starts_with("f32");
  return isF32 ? check(static_cast<float>(value), "f32") : std::nullopt;
}

/// Sees a number without its sign, of tokens that begin with a digit.
std::optional<TextProblem> Scanner::seeNumber() {
  const size_t start = at_;
  const StringRef rest = text_.substr(start);
  const bool isHex = rest.size() > 2 && rest.starts_with("0x") && llvm::isHexDigit(rest[2]);
  const StringRef number = isHex ? rest.take_front(2 + rest.drop_front(2).take_while(llvm::isHexDigit).size())
                                 : numberPrefix(rest);
  at_ += number.size();
  last_ = {};
  if (number.size() > kMaxDigits)
    return problemAt(start, "expected a number of at most " + llvm::Twine(kMaxDigits) +
                                " digits, found one of " + llvm::Twine(number.size()));
  if (!checksValues_)
    return std::nullopt;
  const bool isWhole = isHex || llvm::all_of(number, llvm::isDigit);
  return isWhole ? checkWhole(number, start) : checkReal(number, start);
}

/// Handles the construct that the preceding word begins: `#name = ...` or `!name = ...` an alias,
/// `affine_map<` a map.
void Scanner::endWord(char sign) {
  if (sign == '=' && (last_.starts_with("#") || last_.starts_with("!"))) {
    defined_ = &aliases_[last_];
    *defined_ = 0;
  }
  if (sign == '<' && (last_ == "affine_map" || last_ == "affine_set") && aroundAffine_ < 0) {
    affineStart_ = at_;
    aroundAffine_ = depth_.total();
  }
  if (!llvm::isSpace(sign))
    last_ = {};
}

std::optional<TextProblem> Scanner::seeSign() {
  const char c = text_[at_];
  endWord(c);
  const bool isArrow = c == '>' && at_ > 0 && text_[at_ - 1] == '-';
  const bool isComparison = (c == '<' || c == '>') && text_.substr(at_ + 1).starts_with("=");
  if (!isArrow && !isComparison)
    depth_.see(c);
  if (aroundAffine_ >= 0 && at_ - affineStart_ > kMaxAffineBytes)
    return problemAt(at_, "an affine map of more than " + llvm::Twine(kMaxAffineBytes) + " bytes");
  if (c == '>' && depth_.total() <= aroundAffine_)
    aroundAffine_ = -1;
  std::optional<TextProblem> found = checkDepth(depth_.total());
  ++at_;
  if (c == '\n') {
    ++line_;
    lineStart_ = at_;
  }
  return found;
}

std::optional<TextProblem> Scanner::scan() {
  while (at_ < text_.size()) {
    if (skipText())
      continue;
    const char c = text_[at_];
    const bool isWord = llvm::isAlpha(c) || StringRef("_#!%@^").contains(c);
    if (std::optional<TextProblem> found = isWord ? seeWord() : llvm::isDigit(c) ? seeNumber() : seeSign())
      return found;
  }
  return std::nullopt;
}

std::optional<std::string> describeNonText(StringRef text, StringRef file) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::optional<uint32_t> character = nextCharacter(text, at);
    const bool isHidden = character && (isControl(*character) || changesDirection(*character));
    if (character && (!isHidden || StringRef("\n\r\t").contains(text[begin])))
      continue;
    const std::string place = (file + ":" + llvm::Twine(text.take_front(begin).count('\n') + 1)).str();
    const bool isWide = character && *character >= 0x80;
    std::string code;
    appendHex(code, isWide ? *character : static_cast<unsigned char>(text[begin]), isWide ? 4 : 2);
    return place +
           (isWide ? ": expected a model's text, found the control character U+" + StringRef(code).upper()
                   : ": expected a model's text in UTF-8, found the byte 0x" + code);
  }
  return std::nullopt;
}

std::optional<TextProblem> findUnparsable(StringRef text) {
  return Scanner(text, /*checksValues=*/false).scan();
}

std::optional<TextProblem> findBadText(StringRef text) { return Scanner(text, /*checksValues=*/true).scan(); }

std::string withoutLongNumbers(StringRef text) {
  std::string shortened = text.str();
  for (size_t at = 0, digits = 0; at < text.size(); ++at) {
    digits = llvm::isDigit(text[at]) ? digits + 1 : 0;
    if (digits > kMaxDigits)
      shortened[at] = ' ';
  }
  return shortened;
}

size_t offsetOf(const TextProblem &problem, StringRef text) {
  size_t begin = 0;
  for (size_t line = 1; line < problem.line; ++line)
    begin = text.find('\n', begin) + 1;
  return begin + problem.column - 1;
}

std::string describe(const TextProblem &problem, StringRef file) {
  return (file + ":" + llvm::Twine(problem.line) + ":" + llvm::Twine(problem.column) + ": " + problem.message)
      .str();
}

} // namespace trainc
