// Tokens that are matched in a text before it is split into words, such as <|endoftext|>.
#pragma once

#include "runtime/data/tokenizer/tokenizer_definition.h"

#include <array>
#include <optional>
#include <string_view>

namespace trainc {

/// A set of tokens to find in texts. An automaton reads a text from its end, so that the longest token that
/// begins at a position is known there after one walk, in a time that does not depend on the tokens' lengths
/// (Aho and Corasick).
class AddedTokens {
public:
  /// Contents must not be empty.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// A token in a text. The text before it ends at `begin`, the text after it begins at `end`, without the
  /// spaces that the token strips.
  struct Match {
    size_t begin;
    size_t end;
    uint32_t id;
  };

  /// Finds the tokens in one text: leftmost match first, longest of several at one position, the one with the
  /// lowest id of equal ones. Like Hugging Face's, it finds tokens among the spaces that the previous token
  /// strips, too, unless they strip spaces on their left; the begin of such a match is less than the end of
  /// the previous one. The tokens and the text must outlive it.
  class Search {
  public:
    Search(const AddedTokens &tokens, std::string_view text) : tokens_(tokens), text_(text) {}

    /// The next match, or nothing.
    std::optional<Match> next();

  private:
    void fillBlock(size_t begin);
    const AddedToken *longestAt(size_t position);
    /// End of the run of spaces that begins at `position`.
    size_t spacesAfter(size_t position);

    const AddedTokens &tokens_;
    std::string_view text_;
    size_t begin_ = 0;              ///< of the block of the text that longest_ describes
    std::vector<uint32_t> longest_; ///< index of the longest token at each position of the block, or kNone
    size_t from_ = 0;               ///< where the content of the previous match ends
    size_t textBegin_ = 0;          ///< end of the previous match
    size_t spacesBegin_ = 0, spacesEnd_ = 0; ///< of the last run of spaces stripped, each read once
  };

private:
  static constexpr uint32_t kRoot = 0, kNone = UINT32_MAX;

  /// The last bytes of some tokens.
  struct Node {
    uint32_t firstChild = 0, endChild = 0; ///< nodes with one byte more before, ordered by it
    uint32_t shorter = kRoot;              ///< the longest other node that these bytes begin with
    uint32_t longest = kNone;              ///< index of the longest token that these bytes begin with
    char byte = 0;                         ///< the first of the bytes
  };

  void buildNodes();
  void linkNodes();
  /// The node after reading `byte` before the bytes of `node`.
  uint32_t next(uint32_t node, char byte) const;

  std::vector<AddedToken> tokens_; ///< sorted by content, read from its end
  size_t maxBytes_ = 0;            ///< of a token
  std::vector<Node> nodes_;
  std::array<uint32_t, 256> ofRoot_{}; ///< child of the root by its byte; kRoot if there is none
};

} // namespace trainc
