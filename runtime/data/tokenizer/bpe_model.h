// Byte-pair encoding of single words.
#pragma once

#include "base/status.h"
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

/// A map with lookup by string view.
template <typename Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

/// Encodes a word by repeatedly merging the adjacent pair of highest priority, leftmost first. Not
/// thread-safe, because words are cached.
class BpeModel {
public:
  /// Errors (kInvalidInput) name the file and the entry: an id given twice, a merge of tokens that are not in
  /// the vocabulary, characters that would be lost.
  static Result<BpeModel> create(const BpeDefinition &definition);

  /// Appends the ids of `word`: any bytes if the units are bytes, else UTF-8. False if the word has a byte
  /// that the model lacks(); Hugging Face drops such bytes silently.
  [[nodiscard]] bool encode(std::string_view word, std::vector<uint32_t> &ids);
  /// Appends the ids of bytes that are not UTF-8. False as encode().
  [[nodiscard]] bool encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids);

  /// Whether a vocabulary of bytes has neither a token for `byte` nor one for what is unknown.
  bool lacks(char byte) const;

  /// The id of a token in the vocabulary's spelling, or nothing.
  std::optional<uint32_t> find(std::string_view token) const;
  /// Token (in the file's spelling) -> id.
  const StringMap<uint32_t> &vocabulary() const { return vocabulary_; }

  /// Whether no token contains `character` (ASCII or U+2581) after another one: then the part of a word from
  /// it on is encoded independently of the part before.
  bool startsTokens(uint32_t character) const;

private:
  static constexpr uint32_t kNoId = static_cast<uint32_t>(-1);
  /// A token of a word under construction, linked to its neighbours; kNone at the ends.
  struct Symbol {
    uint32_t id;
    bool alive;
    size_t previous;
    size_t next;
  };
  /// A merge of the symbol at `position` with the next one; valid as long as it would still give `id`.
  struct Candidate {
    uint32_t rank;
    uint32_t id;
    size_t position;
    /// Heap order: lowest rank first, then leftmost.
    bool operator<(const Candidate &other) const {
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };

  Status addVocabulary(const BpeDefinition &definition);
  void addBytes();
  void addFallback(const BpeDefinition &definition);
  Status addUnknown(const BpeDefinition &definition);
  Status addMerges(const BpeDefinition &definition);
  /// Computes the results of startsTokens().
  void findStarts(const BpeDefinition &definition);

  std::optional<uint32_t> findWhole(std::string_view word) const;
  uint32_t idOfCharacter(std::string_view character) const;
  bool endsPart(std::string_view word, size_t position) const;
  bool encodeParts(std::string_view word, std::vector<uint32_t> &ids);
  bool merge(std::string_view part, std::vector<uint32_t> &ids);
  void addSymbol(uint32_t id);
  bool addFallbackSymbols(std::string_view character);
  bool addSymbols(std::string_view part);
  void consider(size_t position);

  StringMap<uint32_t> vocabulary_;
  Units units_ = Units::kBytes;
  std::array<uint32_t, 256> byteIds_{};     ///< of bytes, or of ASCII characters; kNoId if there is none
  std::array<uint32_t, 256> fallbackIds_{}; ///< of <0x00> to <0xFF>; kNoId if there is none
  bool anyByteFalls_ = false;               ///< whether all fallbackIds_ exist
  uint32_t unknown_ = kNoId;
  bool fuseUnknown_ = false;
  bool ignoreMerges_ = false;
  MergeTable merges_;
  StringMap<uint32_t> wholeWords_;       ///< by bytes; used with ignoreMerges and units of bytes
  std::array<bool, 128> startsTokens_{}; ///< by ASCII character
  bool metaStartsTokens_ = false;        ///< likewise for U+2581
  WordCache cache_;
  std::vector<Symbol> symbols_;       ///< of the word under construction
  std::vector<Candidate> candidates_; ///< a heap
};

} // namespace trainc
