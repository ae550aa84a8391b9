// Validation and escaping of text from files and command lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// Whether the character changes the direction of the text around it, so that the order shown differs from
/// the order in the file.
inline bool changesDirection(uint32_t character) {
  return character == 0x61c || character == 0x200e || character == 0x200f ||
         (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

/// Whether the character has no shape of its own: it changes directions, joins or separates others, chooses a
/// variant of the character before it, ends a line, or annotates. Names that differ in such characters alone
/// look the same.
inline bool isInvisible(uint32_t character) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},   {0x115f, 0x1160}, {0x17b4, 0x17b5},
      {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
      {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
      {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
  };
  for (const auto &[first, last] : kRanges)
    if (character >= first && character <= last)
      return true;
  return false;
}

inline bool isUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (!nextCharacter(text, at))
      return false;
  return true;
}

/// Whether a text is non-empty UTF-8 without control characters and invisible ones, so that plans,
/// checkpoints and messages can quote it.
inline bool isPlainText(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (const std::optional<uint32_t> character = nextCharacter(text, at);
        !character || isControl(*character) || isInvisible(*character))
      return false;
  return !text.empty();
}

/// Appends `value` as `digits` hexadecimal digits.
inline void appendHex(std::string &text, uint32_t value, int digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += kDigits[value >> shift & 0xf];
}

/// Escapes control characters and bytes that are not UTF-8 as "\x1b", invisible characters as "\u202e" or
/// "\U000e0001". Leaves the characters in `kept`.
inline std::string printable(std::string_view text, std::string_view kept = "") {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const std::optional<uint32_t> character = nextCharacter(text, at);
    const std::string_view bytes = text.substr(begin, at - begin);
    const bool isShown = character && !isControl(*character) && !isInvisible(*character);
    if (isShown || (character && kept.find(bytes) != std::string_view::npos)) {
      shown += bytes;
      continue;
    }
    const uint32_t value = character ? *character : static_cast<unsigned char>(text[begin]);
    shown += value < 0x100 ? "\\x" : value < 0x10000 ? "\\u" : "\\U";
    appendHex(shown, value, value < 0x100 ? 2 : value < 0x10000 ? 4 : 8);
  }
  return shown;
}

/// Escapes control and invisible characters from U+007F on in a JSON document as JSON does. Serializers
/// escape the control characters before.
inline std::string printableJson(std::string_view json) {
  std::string shown;
  for (size_t at = 0; at < json.size();) {
    const size_t begin = at;
    const std::optional<uint32_t> character = nextCharacter(json, at);
    if (!character || *character < 0x7f || (!isControl(*character) && !isInvisible(*character))) {
      shown += json.substr(begin, at - begin);
      continue;
    }
    const bool isPair = *character >= 0x10000; // in UTF-16
    const uint32_t beyond = *character - 0x10000;
    for (const uint32_t unit : {isPair ? 0xd800 + (beyond >> 10) : *character, 0xdc00 + (beyond & 0x3ff)}) {
      shown += "\\u";
      appendHex(shown, unit, 4);
      if (!isPair)
        break;
    }
  }
  return shown;
}

} // namespace trainc
