#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace trainc {

namespace {

struct CodePointRange {
  uint32_t first;
  uint32_t last;
};

#include "runtime/data/tokenizer/unicode_tables.inc"

template <size_t Size> bool contains(const CodePointRange (&ranges)[Size], uint32_t codePoint) {
  const auto *range = std::ranges::lower_bound(ranges, codePoint, {}, &CodePointRange::last);
  return range != std::end(ranges) && range->first <= codePoint;
}

constexpr bool isAsciiSpace(uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr std::array<CharClass, 128> asciiClasses() {
  std::array<CharClass, 128> classes{};
  for (uint32_t c = 0; c < classes.size(); ++c)
    classes[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? CharClass::kLetter
                 : c >= '0' && c <= '9'                           ? CharClass::kNumber
                 : isAsciiSpace(c)                                ? CharClass::kSpace
                                                                  : CharClass::kOther;
  return classes;
}
constexpr std::array<CharClass, 128> kAsciiClasses = asciiClasses();

/// The property White_Space beyond ASCII.
bool isSpace(uint32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

CharClass classify(uint32_t codePoint) {
  if (contains(kLetters, codePoint))
    return CharClass::kLetter;
  if (isSpace(codePoint))
    return CharClass::kSpace;
  return contains(kNumbers, codePoint) ? CharClass::kNumber : CharClass::kOther;
}

/// Bytes of the sequence that `lead` begins, or 0.
uint32_t sequenceBytes(uint8_t lead) {
  if (lead >= 0xC2 && lead <= 0xDF)
    return 2;
  if (lead >= 0xE0 && lead <= 0xEF)
    return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

bool isScalarValue(uint32_t codePoint, uint32_t bytes) {
  if (bytes == 3)
    return codePoint >= 0x800 && (codePoint < 0xD800 || codePoint > 0xDFFF);
  return bytes == 2 || (codePoint >= 0x10000 && codePoint <= 0x10FFFF);
}

} // namespace

Character characterAt(std::string_view text, size_t position) {
  const auto lead = static_cast<uint8_t>(text[position]);
  if (lead < 0x80)
    return {lead, 1, kAsciiClasses[lead]};
  constexpr Character kInvalid{0xFFFFFFFF, 1, CharClass::kOther};
  const uint32_t bytes = sequenceBytes(lead);
  if (bytes == 0 || bytes > text.size() - position)
    return kInvalid;
  uint32_t codePoint = lead & (0x7FU >> bytes);
  for (uint32_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[position + i]);
    if ((next & 0xC0U) != 0x80)
      return kInvalid;
    codePoint = codePoint << 6 | (next & 0x3FU);
  }
  if (!isScalarValue(codePoint, bytes))
    return kInvalid;
  return {codePoint, bytes, classify(codePoint)};
}

Character lastCharacter(std::string_view text) {
  for (size_t bytes = std::min<size_t>(4, text.size()); bytes > 1; --bytes)
    if (const Character last = characterAt(text, text.size() - bytes); last.bytes == bytes)
      return last;
  return characterAt(text, text.size() - 1);
}

void appendUtf8(uint32_t codePoint, std::string &text) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80U | (codePoint >> shift & 0x3FU)); };
  if (codePoint < 0x80) {
    text += static_cast<char>(codePoint);
  } else if (codePoint < 0x800) {
    text += {static_cast<char>(0xC0U | codePoint >> 6), tail(0)};
  } else if (codePoint < 0x10000) {
    text += {static_cast<char>(0xE0U | codePoint >> 12), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xF0U | codePoint >> 18), tail(12), tail(6), tail(0)};
  }
}

} // namespace trainc
