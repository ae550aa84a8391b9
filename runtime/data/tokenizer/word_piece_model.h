// WordPiece: the longest tokens of a word, from its begin.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/piece_trie.h"
#include "runtime/data/tokenizer/token_model.h"
#include "runtime/data/tokenizer/word_cache.h"

namespace trainc {

/// Vocabulary and settings as in the files.
struct WordPieceDefinition {
  std::string file; ///< for messages
  std::vector<std::pair<std::string, uint32_t>> vocabulary;
  std::string unknown;            ///< token for words that cannot be made of tokens
  std::string prefix;             ///< of tokens that continue a word, such as ##
  uint64_t maxWordCharacters = 0; ///< longer words are unknown
};

/// Encodes a word by the longest token that it begins with, then the longest one that continues it, and so
/// on. A word that has no such token at some character is one unknown token as a whole.
class WordPieceModel : public TokenModel {
public:
  /// Errors (kInvalidInput) name the file and the entry: an id given twice, no unknown token.
  static Result<std::unique_ptr<TokenModel>> create(const WordPieceDefinition &definition);

  [[nodiscard]] bool encode(std::string_view word, std::vector<uint32_t> &ids) override;
  [[nodiscard]] bool encodeInvalid(std::string_view bytes, std::vector<uint32_t> &ids) override;
  bool lacks(char /*byte*/) const override { return false; }
  const StringMap<uint32_t> &vocabulary() const override { return vocabulary_; }
  bool startsTokens(uint32_t /*character*/) const override { return false; }

private:
  bool encodeKnown(std::string_view word, std::vector<uint32_t> &ids) const;

  StringMap<uint32_t> vocabulary_;
  PieceTrie begins_, continues_; ///< tokens at the begin of a word, and after it, without their prefix
  uint32_t unknown_ = 0;
  uint64_t maxWordCharacters_ = 0;
  WordCache cache_;
};

} // namespace trainc
