// Tokens of a PTX text.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainc::emulator {

struct Token {
  enum class Kind : uint8_t { kWord, kNumber, kSign, kString, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;
  uint32_t line = 0;

  bool is(std::string_view what) const { return text == what && kind != Kind::kString; }
};

/// Reads one token after the other; skips comments.
class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  size_t position() const { return position_; } ///< after the last token

private:
  void skipBlank();

  std::string_view text_;
  size_t position_ = 0;
  uint32_t line_ = 1;
};

} // namespace trainc::emulator
