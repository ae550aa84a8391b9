// Texts that are composed at compile time.
#pragma once

#include <array>
#include <iterator>
#include <string_view>

namespace trainc {

/// Text of a constant. A text longer than the capacity does not compile.
class ConstantText {
public:
  constexpr ConstantText &add(std::string_view text) {
    for (const char character : text)
      characters_.at(size_++) = character;
    return *this;
  }
  /// Adds "a, b and c", if `last` is "and".
  template <typename Words> constexpr ConstantText &addWords(const Words &words, std::string_view last) {
    const size_t count = std::size(words);
    for (size_t i = 0; i < count; ++i) {
      add(words[i]);
      if (i + 2 == count)
        add(" ").add(last).add(" ");
      else if (i + 2 < count)
        add(", ");
    }
    return *this;
  }
  constexpr operator std::string_view() const { return {characters_.data(), size_}; }

private:
  std::array<char, 256> characters_ = {};
  size_t size_ = 0;
};

} // namespace trainc
