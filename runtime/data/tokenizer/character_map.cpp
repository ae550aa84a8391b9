#include "runtime/data/tokenizer/character_map.h"

#include "base/plain_text.h"

#include <algorithm>
#include <utf8proc.h>

namespace trainc {

namespace {

bool isAscii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

// Parts of a unit of darts-clone's double array.
bool hasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t valueOf(uint32_t leaf) { return leaf & 0x7fffffff; }
uint32_t labelOf(uint32_t unit) { return unit & 0x800000ff; } // of a leaf: more than any byte
uint32_t offsetOf(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

std::optional<uint32_t> digitOf(char c) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t found = kDigits.find(c);
  return found == std::string_view::npos ? std::nullopt : std::optional(static_cast<uint32_t>(found));
}

/// The bytes of a text in base64 with padding; nothing if it is damaged.
std::optional<std::string> fromBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i)
    text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0; // of bits that are not written yet
  for (const char c : text) {
    const std::optional<uint32_t> digit = digitOf(c);
    if (!digit)
      return std::nullopt;
    bits = bits << 6 | *digit;
    if ((count += 6) < 8)
      continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
    bits &= (1U << count) - 1;
  }
  return bits == 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

uint32_t wordAt(std::string_view bytes, size_t position) {
  uint32_t word = 0;
  for (size_t i = 4; i-- > 0;)
    word = word << 8 | static_cast<uint8_t>(bytes[position + i]);
  return word;
}

/// End of the cluster of characters, a letter and its marks, that begins at `begin`.
size_t clusterEnd(std::string_view text, size_t begin) {
  size_t end = begin;
  utf8proc_int32_t state = 0;
  auto last = static_cast<utf8proc_int32_t>(nextCharacter(text, end).value_or(0));
  for (size_t next = end; next < text.size(); end = next) {
    const auto character = static_cast<utf8proc_int32_t>(nextCharacter(text, next).value_or(0));
    if (utf8proc_grapheme_break_stateful(last, character, &state))
      break;
    last = character;
  }
  return end;
}

} // namespace

Result<CharacterMap> CharacterMap::read(const std::string &where, std::string_view base64) {
  const std::optional<std::string> bytes = fromBase64(base64);
  if (!bytes)
    return invalidInput("{}: precompiled_charsmap: not base64", where);
  constexpr size_t kWord = sizeof(uint32_t);
  const size_t size = bytes->size() < kWord ? 0 : wordAt(*bytes, 0);
  if (size < kWord || size % kWord != 0 || size > bytes->size() - kWord)
    return invalidInput(
        "{}: precompiled_charsmap: expected the size of a trie, and as many bytes; found the size "
        "{} in {} bytes",
        where, size, bytes->size());
  CharacterMap map;
  for (size_t position = kWord; position < kWord + size; position += kWord)
    map.units_.push_back(wordAt(*bytes, position));
  map.replacements_ = bytes->substr(kWord + size);
  TRAINC_RETURN_IF_ERROR(map.verify(where));
  for (size_t c = 0; c < map.ascii_.size(); ++c) {
    const char character = static_cast<char>(c);
    map.ascii_[c] = map.find(std::string_view(&character, 1)).has_value();
  }
  return map;
}

/// Fails if a key leads out of the trie, or to no replacement.
Status CharacterMap::verify(const std::string &where) const {
  if (!isUtf8(replacements_))
    return invalidInput("{}: precompiled_charsmap: the replacements are not UTF-8", where);
  std::vector<bool> seen(units_.size());
  std::vector<uint32_t> open = {0}; // units that keys lead to; several may share their next ones
  while (!open.empty()) {
    const uint32_t at = open.back(), unit = units_[at], base = at ^ offsetOf(unit);
    open.pop_back();
    if (base >= units_.size())
      return invalidInput("{}: precompiled_charsmap: unit {} of the trie leads to unit {}; there are {}",
                          where, at, base, units_.size());
    if (hasLeaf(unit)) {
      const uint32_t value = valueOf(units_[base]);
      const bool isInside = value < replacements_.size();
      if (!isInside || (static_cast<uint8_t>(replacements_[value]) & 0xC0) == 0x80)
        return invalidInput(
            "{}: precompiled_charsmap: unit {} of the trie leads to byte {} of the replacements, "
            "which {}",
            where, at, value,
            isInside ? "is within a character" : fmt::format("have {} bytes", replacements_.size()));
    }
    for (uint32_t byte = 1; byte < 0x100; ++byte)
      if (const uint32_t next = base ^ byte;
          next < units_.size() && labelOf(units_[next]) == byte && !seen[next]) {
        seen[next] = true;
        open.push_back(next);
      }
  }
  return {};
}

/// The replacement of the shortest prefix of `key` that has one, as SentencePiece's users do it.
std::optional<std::string_view> CharacterMap::find(std::string_view key) const {
  uint32_t node = offsetOf(units_[0]);
  for (const char c : key) {
    const auto byte = static_cast<uint8_t>(c);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || labelOf(units_[node]) != byte)
      return std::nullopt;
    const uint32_t unit = units_[node];
    node ^= offsetOf(unit);
    if (hasLeaf(unit)) {
      const std::string_view rest = std::string_view(replacements_).substr(valueOf(units_[node]));
      return rest.substr(0, rest.find('\0'));
    }
  }
  return std::nullopt;
}

/// A short cluster with a replacement is replaced as a whole, else each of its characters.
void CharacterMap::applyToCluster(std::string_view cluster, size_t maxBytes, std::string &out) const {
  constexpr size_t kMaxCluster = 5; // bytes
  if (cluster.size() <= kMaxCluster)
    if (const auto replacement = find(cluster)) {
      out += *replacement;
      return;
    }
  for (size_t position = 0; position < cluster.size() && out.size() <= maxBytes;) {
    const size_t begin = position;
    nextCharacter(cluster, position);
    const std::string_view character = cluster.substr(begin, position - begin);
    out += find(character).value_or(character);
  }
}

std::string CharacterMap::apply(std::string_view text, size_t maxBytes) const {
  std::string out;
  out.reserve(text.size());
  for (size_t position = 0; position < text.size() && out.size() <= maxBytes;) {
    // ASCII before ASCII is a cluster, but for \r\n.
    const bool isPlain = isAscii(text[position]) && text[position] != '\r' &&
                         (position + 1 == text.size() || isAscii(text[position + 1]));
    if (isPlain && keeps(text[position])) {
      out += text[position++];
      continue;
    }
    const size_t end = clusterEnd(text, position);
    applyToCluster(text.substr(position, end - position), maxBytes, out);
    position = end;
  }
  return out;
}

} // namespace trainc
