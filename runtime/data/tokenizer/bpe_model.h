// Byte-pair encoding of single words.
#pragma once

#include "runtime/base/status.h"
#include "runtime/data/tokenizer/bpe_definition.h"
#include "runtime/data/tokenizer/string_hash.h"

#include <array>
#include <span>
#include <unordered_map>

namespace trainc {

/// Encodes a word by merging, as long as there is one, the adjacent pair of highest priority, the leftmost
/// first. Not thread-safe: words are cached.
class BpeModel {
public:
  /// Errors (kInvalidInput) name the file and the entry: a byte without token, an id given twice, a merge of
  /// tokens that are not in the vocabulary.
  static Result<BpeModel> create(const BpeDefinition &definition);

  /// Appends the ids of `word`, which may hold any bytes.
  void encode(std::string_view word, std::vector<uint32_t> &ids);

  /// The id of a token given in the byte alphabet, or nothing.
  std::optional<uint32_t> find(std::string_view token) const;
  /// Token (in the byte alphabet) -> id.
  const StringMap<uint32_t> &vocabulary() const { return vocabulary_; }

private:
  struct Merge {
    uint32_t rank;
    uint32_t id;
  };
  struct Symbol;
  struct Candidate;

  Status addVocabulary(const BpeDefinition &definition);
  Status addMerges(const BpeDefinition &definition);
  const Merge *findMerge(uint32_t left, uint32_t right) const;
  void mergeWord(std::string_view word, std::vector<uint32_t> &ids) const;

  StringMap<uint32_t> vocabulary_;
  std::array<uint32_t, 256> byteIds_{};
  std::unordered_map<uint64_t, Merge> merges_; ///< by left id << 32 | right id
  StringMap<uint32_t> wholeWords_;             ///< by bytes; filled for ignoreMerges
  StringMap<std::vector<uint32_t>> cache_;     ///< by bytes
};

} // namespace trainc
