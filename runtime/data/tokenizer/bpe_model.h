// Byte-pair encoding of single words.
#pragma once

#include "runtime/base/status.h"
#include "runtime/data/tokenizer/bpe_definition.h"
#include "runtime/data/tokenizer/merge_table.h"
#include "runtime/data/tokenizer/word_cache.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <xxhash.h>

namespace trainc {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
};

/// Looked up with views.
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

/// Encodes a word by merging, as long as there is one, the adjacent pair of highest priority, the leftmost
/// first. Not thread-safe: words are cached.
class BpeModel {
public:
  /// Errors (kInvalidInput) name the file and the entry: a byte without token, an id given twice, a merge of
  /// tokens that are not in the vocabulary, characters that would be lost.
  static Result<BpeModel> create(const BpeDefinition &definition);

  /// Appends the ids of `word`: any bytes if the units are bytes, else UTF-8.
  void encode(std::string_view word, std::vector<uint32_t> &ids);
  /// Appends the ids of bytes that are not UTF-8.
  void encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids);

  /// The id of a token as the vocabulary writes it, or nothing.
  std::optional<uint32_t> find(std::string_view token) const;
  /// Token (as the file writes it) -> id.
  const StringMap<uint32_t> &vocabulary() const { return vocabulary_; }

  /// Whether no token has `character`, which is ASCII or U+2581, behind another one: what lies before it in a
  /// word does not matter for what comes from it on.
  bool startsTokens(uint32_t character) const;

private:
  static constexpr uint32_t kNoId = static_cast<uint32_t>(-1);
  /// One token of a word under construction, linked to its neighbours; kNone at the ends.
  struct Symbol {
    uint32_t id;
    bool alive;
    size_t previous;
    size_t next;
  };
  /// A merge of the symbol at `position` with the one after it, valid as long as it would still give `id`.
  struct Candidate {
    uint32_t rank;
    uint32_t id;
    size_t position;
    /// Orders a heap: lowest rank first, then leftmost.
    bool operator<(const Candidate &other) const {
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };

  Status addVocabulary(const BpeDefinition &definition);
  Status addBytes(const BpeDefinition &definition);
  Status addFallback(const BpeDefinition &definition);
  Status addMerges(const BpeDefinition &definition);
  /// Finds what startsTokens() says.
  void findStarts(const BpeDefinition &definition);

  std::optional<uint32_t> findWhole(std::string_view word) const;
  uint32_t idOfCharacter(std::string_view character) const;
  bool endsPart(std::string_view word, size_t position) const;
  void encodeParts(std::string_view word, std::vector<uint32_t> &ids);
  void merge(std::string_view part, std::vector<uint32_t> &ids);
  void addSymbol(uint32_t id);
  void addSymbols(std::string_view part);
  void consider(size_t position);

  StringMap<uint32_t> vocabulary_;
  Units units_ = Units::kBytes;
  std::array<uint32_t, 256> byteIds_{};     ///< of bytes, or of ASCII characters; kNoId
  std::array<uint32_t, 256> fallbackIds_{}; ///< of <0x00> to <0xFF>; kNoId
  bool anyByteFalls_ = false;               ///< all fallbackIds_ are there
  uint32_t unknown_ = kNoId;
  bool fuseUnknown_ = false;
  bool ignoreMerges_ = false;
  MergeTable merges_;
  StringMap<uint32_t> wholeWords_;       ///< by bytes; filled for ignoreMerges and units of bytes
  std::array<bool, 128> startsTokens_{}; ///< by ASCII character
  bool metaStartsTokens_ = false;        ///< the same for U+2581
  WordCache cache_;
  std::vector<Symbol> symbols_;       ///< of the word under construction
  std::vector<Candidate> candidates_; ///< a heap
};

} // namespace trainc
