#include "runtime/data/tokenizer/bpe_model.h"

#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/unicode.h"

#include <queue>
#include <unordered_set>

namespace trainc {

namespace {

/// Keeps every id a valid i32, and sums of them in 32 bits.
constexpr uint32_t kMaxId = (1U << 30) - 1;
constexpr size_t kMaxCachedWords = 1 << 16;
constexpr size_t kMaxCachedBytes = 64;
constexpr size_t kNone = static_cast<size_t>(-1);

uint64_t pairKey(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

} // namespace

/// One token of a word under construction, linked to its neighbours; kNone at the ends.
struct BpeModel::Symbol {
  uint32_t id;
  bool alive;
  size_t previous;
  size_t next;
};

/// A merge of the symbol at `position` with the one after it, valid as long as it would still give `id`.
struct BpeModel::Candidate {
  uint32_t rank;
  uint32_t id;
  size_t position;
  /// Orders a priority queue: lowest rank first, then leftmost.
  bool operator<(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : position > other.position;
  }
};

Result<BpeModel> BpeModel::create(const BpeDefinition &definition) {
  BpeModel model;
  TRAINC_RETURN_IF_ERROR(model.addVocabulary(definition));
  TRAINC_RETURN_IF_ERROR(model.addMerges(definition));
  return model;
}

Status BpeModel::addVocabulary(const BpeDefinition &definition) {
  std::unordered_set<uint32_t> ids;
  for (const auto &[token, id] : definition.vocabulary) {
    if (id > kMaxId)
      return invalidInput("{}: vocabulary: token '{}' has id {}; ids go up to {}", definition.file, token, id,
                          kMaxId);
    if (!ids.insert(id).second)
      return invalidInput("{}: vocabulary: token '{}' has id {}, which another token has already",
                          definition.file, token, id);
    vocabulary_.emplace(token, id);
    if (definition.ignoreMerges)
      if (auto bytes = bytesOfToken(token))
        wholeWords_.emplace(std::move(*bytes), id);
  }
  for (size_t byte = 0; byte < byteIds_.size(); ++byte) {
    std::string token;
    appendUtf8(byteAlphabet()[byte], token);
    const auto id = find(token);
    if (!id)
      return invalidInput(
          "{}: vocabulary: no token '{}' for the byte {:#04x}; expected a byte-level vocabulary, which "
          "has a token for each of the 256 bytes",
          definition.file, token, byte);
    byteIds_[byte] = *id;
  }
  return {};
}

Status BpeModel::addMerges(const BpeDefinition &definition) {
  uint32_t rank = 0;
  for (const auto &[left, right] : definition.merges) {
    const auto leftId = find(left);
    const auto rightId = find(right);
    const auto id = find(left + right);
    if (!leftId || !rightId || !id)
      return invalidInput("{}: merge {} ('{}' and '{}'): '{}' is not in the vocabulary", definition.file,
                          rank + 1, left, right,
                          !leftId    ? left
                          : !rightId ? right
                                     : left + right);
    merges_.insert_or_assign(pairKey(*leftId, *rightId), Merge{rank++, *id});
  }
  return {};
}

std::optional<uint32_t> BpeModel::find(std::string_view token) const {
  const auto found = vocabulary_.find(token);
  return found == vocabulary_.end() ? std::nullopt : std::optional(found->second);
}

const BpeModel::Merge *BpeModel::findMerge(uint32_t left, uint32_t right) const {
  const auto found = merges_.find(pairKey(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BpeModel::encode(std::string_view word, std::vector<uint32_t> &ids) {
  if (const auto whole = wholeWords_.find(word); whole != wholeWords_.end()) {
    ids.push_back(whole->second);
    return;
  }
  if (const auto known = cache_.find(word); known != cache_.end()) {
    ids.insert(ids.end(), known->second.begin(), known->second.end());
    return;
  }
  const size_t first = ids.size();
  mergeWord(word, ids);
  if (word.size() <= kMaxCachedBytes && cache_.size() < kMaxCachedWords)
    cache_.emplace(word, std::vector(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end()));
}

void BpeModel::mergeWord(std::string_view word, std::vector<uint32_t> &ids) const {
  std::vector<Symbol> symbols(word.size());
  for (size_t i = 0; i < word.size(); ++i)
    symbols[i] = {byteIds_[static_cast<uint8_t>(word[i])], true, i == 0 ? kNone : i - 1,
                  i + 1 == word.size() ? kNone : i + 1};

  std::priority_queue<Candidate> candidates;
  const auto consider = [&](size_t position) {
    if (position == kNone || symbols[position].next == kNone)
      return;
    if (const Merge *merge = findMerge(symbols[position].id, symbols[symbols[position].next].id))
      candidates.push({merge->rank, merge->id, position});
  };
  for (size_t i = 0; i < symbols.size(); ++i)
    consider(i);

  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol &left = symbols[best.position];
    if (!left.alive || left.next == kNone)
      continue;
    Symbol &right = symbols[left.next];
    const Merge *merge = findMerge(left.id, right.id);
    if (!merge || merge->id != best.id)
      continue; // one of the two was merged with another neighbour meanwhile
    left.id = best.id;
    left.next = right.next;
    right.alive = false;
    if (left.next != kNone)
      symbols[left.next].previous = best.position;
    consider(left.previous);
    consider(best.position);
  }
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].alive)
      ids.push_back(symbols[i].id);
}

} // namespace trainc
