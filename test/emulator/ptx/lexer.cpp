#include "test/emulator/ptx/lexer.h"

#include <algorithm>
#include <cctype>

namespace trainc::emulator {

namespace {

bool beginsWord(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

bool continuesWord(char c) { return beginsWord(c) || std::isdigit(static_cast<unsigned char>(c)); }

} // namespace

void Lexer::skipBlank() {
  while (position_ < text_.size()) {
    const std::string_view rest = text_.substr(position_);
    size_t length = 0;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/");
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) || rest[0] == '\0') {
      length = 1; // texts include their terminator
    } else {
      return;
    }
    line_ += static_cast<uint32_t>(std::ranges::count(rest.substr(0, length), '\n'));
    position_ += length;
  }
}

Token Lexer::next() {
  skipBlank();
  if (position_ == text_.size())
    return {Token::Kind::kEnd, "", line_};
  const size_t begin = position_;
  const char first = text_[position_++];
  Token::Kind kind = Token::Kind::kSign;
  const auto at = [&](size_t index) { return index < text_.size() ? text_[index] : '\0'; };
  if (first == '"') {
    kind = Token::Kind::kString;
    while (position_ < text_.size() && text_[position_] != '"')
      ++position_;
    position_ += position_ < text_.size();
  } else if (std::isdigit(static_cast<unsigned char>(first))) {
    kind = Token::Kind::kNumber;
    while (
        std::isalnum(static_cast<unsigned char>(at(position_))) || at(position_) == '.' ||
        ((at(position_) == '-' || at(position_) == '+') && at(position_ - 1) == 'e' && at(begin + 1) != 'x'))
      ++position_;
  } else if (beginsWord(first)) {
    kind = Token::Kind::kWord;
    while (true) {
      if (continuesWord(at(position_)))
        ++position_;
      else if (at(position_) == ':' && at(position_ + 1) == ':') // .L1::no_allocate
        position_ += 2;
      else
        break;
    }
  }
  return {kind, text_.substr(begin, position_ - begin), line_};
}

} // namespace trainc::emulator
