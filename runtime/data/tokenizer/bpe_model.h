// Byte-pair encoding of single words.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/merge_table.h"
#include "runtime/data/tokenizer/token_model.h"
#include "runtime/data/tokenizer/tokenizer_definition.h"
#include "runtime/data/tokenizer/word_cache.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace trainc {

/// Vocabulary and merges as in the files.
struct BpeDefinition {
  std::string file; ///< for messages
  Units units = Units::kBytes;
  std::vector<std::pair<std::string, uint32_t>> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges; ///< descending priority
  bool byteFallback = false; ///< a character without a token is encoded as its bytes, <0x00> to <0xFF>
  std::optional<std::string> unknown; ///< token for characters without one
  bool fuseUnknown = false;           ///< consecutive unknown characters give one token
  /// A word that is in the vocabulary is encoded as that token, whatever the merges.
  bool ignoreMerges = false;
};

/// Encodes a word by repeatedly merging the adjacent pair of highest priority, leftmost first.
class BpeModel : public TokenModel {
public:
  /// Errors (kInvalidInput) name the file and the entry: an id given twice, a merge of tokens that are not in
  /// the vocabulary, characters that would be lost.
  static Result<std::unique_ptr<TokenModel>> create(const BpeDefinition &definition);

  [[nodiscard]] bool encode(std::string_view word, std::vector<uint32_t> &ids) override;
  [[nodiscard]] bool encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids) override;
  bool lacks(char byte) const override;
  const StringMap<uint32_t> &vocabulary() const override { return vocabulary_; }
  /// True if no token contains `character` after another one, and no word is encoded as a whole.
  bool startsTokens(uint32_t character) const override;

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
