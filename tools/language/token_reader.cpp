#include "tools/language/token_reader.h"

#include "tools/language/source_files.h"
#include "tools/language/text_position.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using llvm::StringRef;

namespace trainc {

namespace {

bool beginsWord(char c) { return llvm::isAlpha(c) || c == '_'; }

size_t skipQuoted(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return std::min(text.size(), at < text.size() && text[at] == '"' ? at + 1 : at);
}

/// Whether a line within braces that begins with a word `let` or `import` is meant as one outside of braces.
/// Both words may be keys of a dictionary.
bool isMeant(Token::Kind kind, StringRef rest) {
  rest = rest.ltrim(" \t");
  if (kind == Token::Import)
    return rest.starts_with("\"");
  const StringRef name = rest.take_while(isWordCharacter);
  return !name.empty() && rest.drop_front(name.size()).ltrim(" \t").starts_with("=");
}

} // namespace

bool TokenReader::isFirstOfLine() const {
  const StringRef before = text_.take_front(at_).rtrim(" \t");
  return before.empty() || before.ends_with("\n");
}

/// Skips one comment, quoted text, name with a sigil, number or character without a meaning here.
bool TokenReader::skipPlain() {
  const StringRef rest = text_.substr(at_);
  const char c = rest[0];
  if (rest.starts_with("//")) {
    at_ = std::min(text_.find('\n', at_), text_.size());
  } else if (c == '"') {
    at_ = skipQuoted(text_, at_);
  } else if (StringRef("%#!^").contains(c)) {
    const auto isOfName = [](char each) { return isWordCharacter(each) || each == '-'; };
    at_ += 1 + rest.drop_front().take_while(isOfName).size();
  } else if (beginsWord(c) || StringRef("@${}").contains(c)) {
    return false;
  } else {
    ++at_;
  }
  return true;
}

/// Takes `@name` or `@"name"`. Returns the name, or nothing if characters other than those of a word are in
/// quotes.
StringRef TokenReader::takeSymbol() {
  const size_t begin = ++at_;
  if (!text_.substr(begin).starts_with("\"")) {
    const StringRef name = wordAt(text_, begin);
    at_ += name.size();
    return name;
  }
  at_ = skipQuoted(text_, begin);
  StringRef quoted = text_.slice(begin + 1, at_);
  return quoted.consume_back("\"") && llvm::all_of(quoted, isWordCharacter) ? quoted : StringRef();
}

/// Reads a word. In `4x8xf32` each x that follows a size is a word of its own.
std::optional<Token> TokenReader::wordToken() {
  const size_t begin = at_;
  const StringRef rest = text_.substr(begin);
  const bool isAfterSize =
      begin > 0 && (llvm::isDigit(text_[begin - 1]) || StringRef("?)").contains(text_[begin - 1]));
  if (rest.starts_with("x") && (isAfterSize || rest.starts_with("x$"))) {
    ++at_;
    return std::nullopt;
  }
  const StringRef word = rest.take_while(isWordCharacter);
  const bool isFirst = isFirstOfLine();
  at_ += word.size();
  if (isFirst && (word == "let" || word == "import")) {
    const Token::Kind kind = word == "let" ? Token::Let : Token::Import;
    if (depth_ == 0 || isMeant(kind, text_.substr(at_)))
      return Token{kind, begin, at_, {}};
  }
  if (word == "nn.block" && depth_ == 0) {
    at_ = std::min(text_.find_first_not_of(" \t", at_), text_.size());
    if (text_.substr(at_).starts_with("@"))
      if (const StringRef name = takeSymbol(); !name.empty())
        return Token{Token::Block, begin, at_, name};
  }
  return std::nullopt;
}

Token TokenReader::next() {
  while (at_ < text_.size()) {
    if (skipPlain())
      continue;
    const size_t begin = at_;
    switch (text_[begin]) {
    case '{':
      ++depth_;
      return {Token::Open, begin, ++at_, {}};
    case '}':
      depth_ = std::max(0, depth_ - 1);
      return {Token::Close, begin, ++at_, {}};
    case '$':
      return {Token::Dollar, begin, ++at_, {}};
    case '@': {
      const StringRef name = takeSymbol();
      return {Token::Symbol, begin, at_, name};
    }
    default:
      if (const std::optional<Token> token = wordToken())
        return *token;
    }
  }
  return {Token::End, text_.size(), text_.size(), {}};
}

} // namespace trainc
