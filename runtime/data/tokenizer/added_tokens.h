// Tokens that are matched in a text before it is split into words, such as <|endoftext|>.
#pragma once

#include "runtime/data/tokenizer/bpe_definition.h"

#include <array>
#include <optional>
#include <string_view>

namespace trainc {

/// Finds the tokens of a set in a text: leftmost match first, longest of several at one position.
class AddedTokens {
public:
  /// Contents must not be empty.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  struct Match {
    size_t begin;
    size_t end; ///< begin and end include spaces that the token strips
    uint32_t id;
  };
  /// The first match in `text` at or after `from`, or nothing.
  std::optional<Match> find(std::string_view text, size_t from) const;

private:
  const AddedToken *longestAt(std::string_view text, size_t position) const;

  struct Range {
    size_t begin = 0, end = 0;
  };

  std::vector<AddedToken> tokens_;       ///< sorted by content
  std::array<Range, 256> byFirstByte_{}; ///< in tokens_
};

} // namespace trainc
