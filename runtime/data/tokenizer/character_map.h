// SentencePiece's map of characters: the normalizer Precompiled.
#pragma once

#include "base/status.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Replacements of characters, or of a character with its marks. Keys are in a double array of darts-clone: a
/// key's next byte leads from a node to the node at `offset ^ byte`, if its unit has that byte as its label.
class CharacterMap {
public:
  /// Reads the field precompiled_charsmap, in base64: the size of the double array in bytes, its units, and
  /// the replacements, each with a zero byte after it. Integers have 32 bits, the lowest byte first. `where`
  /// is for messages. Errors (kInvalidInput) say what is damaged.
  static Result<CharacterMap> read(const std::string &where, std::string_view base64);

  /// Replaces what has a replacement in `text` (UTF-8). Stops soon after the result has more than `maxBytes`
  /// bytes.
  std::string apply(std::string_view text, size_t maxBytes) const;

  /// Whether ASCII character `c` is unchanged if no mark follows it.
  bool keeps(char c) const { return !ascii_[static_cast<uint8_t>(c)]; }

private:
  std::optional<std::string_view> find(std::string_view key) const;
  Status verify(const std::string &where) const;
  void applyToCluster(std::string_view cluster, size_t maxBytes, std::string &out) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
  std::array<bool, 128> ascii_{}; ///< whether a character has a replacement
};

} // namespace trainc
