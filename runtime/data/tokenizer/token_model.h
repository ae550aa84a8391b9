// Interface of models: the tokens of a word.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include <xxhash.h>

namespace trainc {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
};

/// A map with lookup by string view.
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

/// A vocabulary, and the rule by which a word is made of its tokens. Encoding is not thread-safe, because a
/// model may cache words.
class TokenModel {
public:
  virtual ~TokenModel() = default;

  /// Appends the ids of `word`: any bytes if the units are bytes, else UTF-8. False if the word has a byte
  /// that the model lacks(); Hugging Face drops such bytes silently.
  [[nodiscard]] virtual bool encode(std::string_view word, std::vector<uint32_t> &ids) = 0;
  /// Appends the ids of bytes that are not UTF-8. False as encode().
  [[nodiscard]] virtual bool encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids) = 0;
  /// Whether `byte` can end an encoding, because the vocabulary has no token for it or for what is unknown.
  virtual bool lacks(char byte) const = 0;

  /// Token (in the file's spelling) -> id.
  virtual const StringMap<uint32_t> &vocabulary() const = 0;
  /// The id of a token in the vocabulary's spelling, or nothing.
  std::optional<uint32_t> find(std::string_view token) const {
    const auto found = vocabulary().find(token);
    return found == vocabulary().end() ? std::nullopt : std::optional(found->second);
  }

  /// Whether the part of a word from `character` (ASCII or U+2581) on, after another character, is always
  /// encoded independently of the part before.
  virtual bool startsTokens(uint32_t character) const = 0;
};

} // namespace trainc
