// Validation and escaping of text from files and command lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// Decodes the character at `position` and advances past it; at invalid UTF-8 returns nothing and advances by
/// one byte.
inline std::optional<uint32_t> nextCharacter(std::string_view text, size_t &position) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(position);
  const size_t begin = position++;
  if (lead < 0x80)
    return lead;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || length > text.size() - begin)
    return std::nullopt;
  uint32_t character = lead & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(begin + i) & 0xc0) != 0x80)
      return std::nullopt;
    character = character << 6 | (byte(begin + i) & 0x3fU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000}; // smaller values have shorter encodings
  if (character < kSmallest[length] || character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
    return std::nullopt;
  position = begin + length;
  return character;
}

/// Whether a terminal may interpret the character instead of showing it: C0, DEL and C1.
inline bool isControl(uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

inline bool isUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (!nextCharacter(text, at))
      return false;
  return true;
}

/// Whether a text is non-empty UTF-8 without control characters, so that plans, checkpoints and messages can
/// quote it.
inline bool isPlainText(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (const std::optional<uint32_t> character = nextCharacter(text, at);
        !character || isControl(*character))
      return false;
  return !text.empty();
}

/// Escapes control characters other than those in `kept`, and bytes that are not UTF-8, as "\x1b".
inline std::string printable(std::string_view text, std::string_view kept = "") {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::optional<uint32_t> character = nextCharacter(text, at);
    const std::string_view bytes = text.substr(begin, at - begin);
    if (character && (!isControl(*character) || kept.find(bytes) != std::string_view::npos)) {
      shown += bytes;
      continue;
    }
    const uint32_t value = character ? *character : static_cast<unsigned char>(text[begin]);
    shown += {'\\', 'x', kDigits[value >> 4], kDigits[value & 0xf]};
  }
  return shown;
}

} // namespace trainc
