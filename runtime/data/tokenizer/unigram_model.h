// Unigram: the most probable tokens of a word.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/piece_trie.h"
#include "runtime/data/tokenizer/token_model.h"
#include "runtime/data/tokenizer/word_cache.h"

#include <array>
#include <span>

namespace trainc {

/// Pieces as in the files; the id of a piece is its index.
struct UnigramDefinition {
  std::string file;                                   ///< for messages
  std::vector<std::pair<std::string, double>> pieces; ///< with their scores, logarithms of probabilities
  uint64_t unknown = 0;                               ///< id of the token for characters without a piece
  bool byteFallback = false; ///< unknown characters are encoded as their bytes, <0x00> to <0xFF>
};

/// Encodes a word by the tokens with the greatest sum of scores. Of several sums that are equal, the one
/// whose last token is longest counts. Consecutive unknown characters give one token.
class UnigramModel : public TokenModel {
public:
  /// Errors (kInvalidInput) name the file and the piece: one given twice, a score that is NaN or infinite, no
  /// piece with the id `unknown`.
  static Result<std::unique_ptr<TokenModel>> create(UnigramDefinition definition);

  [[nodiscard]] bool encode(std::string_view word, std::vector<uint32_t> &ids) override;
  [[nodiscard]] bool encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids) override;
  bool lacks(char /*byte*/) const override { return false; }
  const StringMap<uint32_t> &vocabulary() const override { return vocabulary_; }
  bool startsTokens(uint32_t /*character*/) const override { return false; }

private:
  static constexpr uint32_t kNoId = static_cast<uint32_t>(-1);
  /// The best tokens up to an offset of a word.
  struct Path {
    double score = 0;   ///< sum of all tokens
    uint32_t id = 0;    ///< of the last token
    uint32_t bytes = 0; ///< of the last token; 0 if there is no path
  };

  Status addPieces(const UnigramDefinition &definition);
  void findPaths(std::string_view word);
  void improve(size_t end, const Path &path);
  void addUnknown(std::string_view text, std::vector<uint32_t> &ids) const;
  bool addFallback(std::string_view text, std::vector<uint32_t> &ids) const;

  StringMap<uint32_t> vocabulary_;
  std::vector<double> scores_; ///< by id
  PieceTrie trie_;
  uint32_t unknown_ = kNoId;
  double unknownScore_ = 0;
  std::array<uint32_t, 256> fallbackIds_{}; ///< of <0x00> to <0xFF>; kNoId if there is none
  WordCache cache_;
  std::vector<Path> paths_;  ///< by offset in the word being encoded
  std::vector<Path> tokens_; ///< of its best path, last first
};

} // namespace trainc
