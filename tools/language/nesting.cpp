#include "tools/language/nesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <array>
#include <numeric>

using llvm::StringRef;

namespace trainc {

namespace {

constexpr int kMaxDepth = 500;
/// Each operator of an affine expression is one level; realistic maps are far shorter.
constexpr size_t kMaxAffineBytes = 1000;

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
  explicit Scanner(llvm::MemoryBufferRef buffer) : buffer_(buffer), text_(buffer.getBuffer()) {}

  std::optional<std::string> scan();

private:
  bool skipText();
  std::optional<std::string> seeWord();
  void endWord(char sign);
  std::optional<std::string> seeSign();
  std::optional<std::string> checkDepth(int depth);
  std::string error(const std::string &what) const;

  llvm::MemoryBufferRef buffer_;
  StringRef text_;
  size_t at_ = 0, line_ = 1, lineStart_ = 0;
  StringRef last_; ///< the preceding word, separated only by space
  Depth depth_;
  llvm::StringMap<int> aliases_; ///< nesting depth of each alias
  int *defined_ = nullptr;       ///< entry of the alias defined last
  size_t affineStart_ = 0;       ///< begin of the current affine map or set
  int aroundAffine_ = -1;        ///< depth at its begin; -1 outside of one
};

} // namespace

std::string Scanner::error(const std::string &what) const {
  return (buffer_.getBufferIdentifier() + ":" + llvm::Twine(line_) + ":" + llvm::Twine(at_ - lineStart_ + 1) +
          ": " + what)
      .str();
}

std::optional<std::string> Scanner::checkDepth(int depth) {
  if (defined_)
    *defined_ = std::max(*defined_, depth);
  if (depth <= kMaxDepth)
    return std::nullopt;
  return error("brackets are nested more than " + std::to_string(kMaxDepth) + " deep");
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

std::optional<std::string> Scanner::seeWord() {
  const size_t start = at_++;
  at_ += text_.substr(at_)
             .take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; })
             .size();
  last_ = text_.slice(start, at_);
  const auto alias = aliases_.find(last_);
  return alias == aliases_.end() ? std::nullopt : checkDepth(depth_.total() + alias->second);
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

std::optional<std::string> Scanner::seeSign() {
  const char c = text_[at_];
  endWord(c);
  const bool isArrow = c == '>' && at_ > 0 && text_[at_ - 1] == '-';
  const bool isComparison = (c == '<' || c == '>') && text_.substr(at_ + 1).starts_with("=");
  if (!isArrow && !isComparison)
    depth_.see(c);
  if (aroundAffine_ >= 0 && at_ - affineStart_ > kMaxAffineBytes)
    return error("an affine map of more than " + std::to_string(kMaxAffineBytes) + " bytes");
  if (c == '>' && depth_.total() <= aroundAffine_)
    aroundAffine_ = -1;
  std::optional<std::string> found = checkDepth(depth_.total());
  ++at_;
  if (c == '\n') {
    ++line_;
    lineStart_ = at_;
  }
  return found;
}

std::optional<std::string> Scanner::scan() {
  while (at_ < text_.size()) {
    if (skipText())
      continue;
    const char c = text_[at_];
    const bool isWord = llvm::isAlpha(c) || c == '_' || c == '#' || c == '!';
    if (std::optional<std::string> found = isWord ? seeWord() : seeSign())
      return found;
  }
  return std::nullopt;
}

std::optional<std::string> findDeepNesting(llvm::MemoryBufferRef buffer) { return Scanner(buffer).scan(); }

} // namespace trainc
