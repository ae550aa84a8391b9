#include "runtime/data/tokenizer/added_tokens.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <ranges>

namespace trainc {

namespace {

size_t skipSpaces(std::string_view text, size_t position) {
  for (size_t next = position; next < text.size();) {
    const std::optional<uint32_t> character = nextCharacter(text, next);
    if (!character || !isSpace(*character))
      break;
    position = next;
  }
  return position;
}

/// The last character of `text`; nothing if there is none, or if it is not valid UTF-8.
std::optional<uint32_t> characterBefore(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  size_t position = lastCharacter(text);
  const std::optional<uint32_t> character = nextCharacter(text, position);
  return position == text.size() ? character : std::nullopt;
}

/// Begin of the run of spaces that ends at `end`, not before `from`.
size_t spacesBefore(std::string_view text, size_t from, size_t end) {
  while (end > from) {
    const std::string_view before = text.substr(from, end - from);
    const std::optional<uint32_t> character = characterBefore(before);
    if (!character || !isSpace(*character))
      break;
    end = from + lastCharacter(before);
  }
  return end;
}

/// Whether the character is a letter, mark, digit or connector.
bool isWordCharacter(uint32_t character) {
  static const Result<Regex> kWord =
      Regex::compile("", R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])", "\\w");
  std::string text;
  appendUtf8(character, text);
  return kWord.ok() && kWord->matches(text);
}

bool standsAlone(std::string_view text, size_t begin, size_t end) {
  const std::optional<uint32_t> before = characterBefore(text.substr(0, begin));
  size_t position = end;
  const std::optional<uint32_t> after = end < text.size() ? nextCharacter(text, position) : std::nullopt;
  return !(before && isWordCharacter(*before)) && !(after && isWordCharacter(*after));
}

} // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  const auto reversed = [](const AddedToken &token) { return token.content | std::views::reverse; };
  std::ranges::sort(tokens_, [&](const AddedToken &a, const AddedToken &b) {
    const auto left = reversed(a), right = reversed(b);
    return std::ranges::equal(left, right) ? a.id < b.id : std::ranges::lexicographical_compare(left, right);
  });
  for (const AddedToken &token : tokens_)
    maxBytes_ = std::max(maxBytes_, token.content.size());
  buildNodes();
  for (uint32_t child = nodes_[kRoot].firstChild; child < nodes_[kRoot].endChild; ++child)
    ofRoot_[static_cast<uint8_t>(nodes_[child].byte)] = child;
  linkNodes();
}

/// Numbers the nodes by depth, so that the children of a node are consecutive. The tokens that end with a
/// node's bytes are consecutive, too, first those that end there.
void AddedTokens::buildNodes() {
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, tokens_.size(), 0}};
  nodes_.resize(1);
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    const auto byteOf = [&](size_t token) {
      const std::string &content = tokens_[token].content;
      return content[content.size() - 1 - depth];
    };
    if (begin < end && tokens_[begin].content.size() == depth)
      nodes_[node].longest = static_cast<uint32_t>(begin);
    while (begin < end && tokens_[begin].content.size() == depth)
      ++begin;
    nodes_[node].firstChild = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char byte = byteOf(begin);
      const size_t first = begin;
      while (begin < end && byteOf(begin) == byte)
        ++begin;
      nodes_.push_back({.byte = byte});
      ranges.push_back({first, begin, depth + 1});
    }
    nodes_[node].endChild = static_cast<uint32_t>(nodes_.size());
  }
}

/// Nodes of less depth come first, so that the links of a node's parent are known.
void AddedTokens::linkNodes() {
  for (uint32_t parent = 0; parent < nodes_.size(); ++parent)
    for (uint32_t child = nodes_[parent].firstChild; child < nodes_[parent].endChild; ++child) {
      Node &node = nodes_[child];
      node.shorter = parent == kRoot ? kRoot : next(nodes_[parent].shorter, node.byte);
      if (node.longest == kNone)
        node.longest = nodes_[node.shorter].longest;
    }
}

uint32_t AddedTokens::next(uint32_t node, char byte) const {
  while (node != kRoot) {
    const auto begin = nodes_.begin() + nodes_[node].firstChild, end = nodes_.begin() + nodes_[node].endChild;
    const auto found =
        std::ranges::lower_bound(begin, end, byte, {}, [](const Node &child) { return child.byte; });
    if (found != end && found->byte == byte)
      return static_cast<uint32_t>(found - nodes_.begin());
    node = nodes_[node].shorter;
  }
  return ofRoot_[static_cast<uint8_t>(byte)];
}

/// Walks from a token's length after the block to its begin. Blocks are as long as a token, so that this
/// takes at most twice the time of one walk.
void AddedTokens::Search::fillBlock(size_t begin) {
  constexpr size_t kMinBlock = size_t{1} << 16;
  const size_t maxBytes = tokens_.maxBytes_;
  begin_ = begin;
  longest_.resize(std::min(std::max(kMinBlock, maxBytes), text_.size() - begin));
  uint32_t node = kRoot;
  for (size_t position = std::min(begin + longest_.size() + maxBytes, text_.size()); position-- > begin;) {
    node = tokens_.next(node, text_[position]);
    if (position - begin < longest_.size())
      longest_[position - begin] = tokens_.nodes_[node].longest;
  }
}

const AddedToken *AddedTokens::Search::longestAt(size_t position) {
  if (position < begin_ || position - begin_ >= longest_.size())
    fillBlock(position);
  const uint32_t token = longest_[position - begin_];
  return token == kNone ? nullptr : &tokens_.tokens_[token];
}

size_t AddedTokens::Search::spacesAfter(size_t position) {
  if (position < spacesBegin_ || position > spacesEnd_) {
    spacesBegin_ = position;
    spacesEnd_ = skipSpaces(text_, position);
  }
  return spacesEnd_;
}

std::optional<AddedTokens::Match> AddedTokens::Search::next() {
  if (tokens_.tokens_.empty())
    return std::nullopt;
  for (; from_ < text_.size(); ++from_) {
    const AddedToken *token = longestAt(from_);
    if (!token)
      continue;
    const size_t begin = from_, end = begin + token->content.size();
    if (token->singleWord && !standsAlone(text_, begin, end)) {
      from_ = end - 1; // shorter tokens, and others within it, are not tried
      continue;
    }
    const Match match{token->stripLeft ? std::max(spacesBefore(text_, textBegin_, begin), textBegin_) : begin,
                      token->stripRight ? spacesAfter(end) : end, token->id};
    if (match.begin >= match.end) { // all of it is stripped by the previous match
      from_ = end - 1;
      continue;
    }
    from_ = end;
    textBegin_ = match.end;
    return match;
  }
  return std::nullopt;
}

} // namespace trainc
