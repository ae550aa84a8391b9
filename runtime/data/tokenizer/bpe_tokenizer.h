// Byte-level BPE as GPT-2 and Llama 3 use it.
#pragma once

#include "runtime/data/tokenizer/added_tokens.h"
#include "runtime/data/tokenizer/bpe_model.h"
#include "runtime/data/tokenizer/tokenizer.h"

namespace trainc {

/// Added tokens, then the split pattern, then byte-pair encoding of each word.
class BpeTokenizer : public Tokenizer {
public:
  /// `fingerprint`: of the files that `definition` was read from. Errors as of BpeModel::create, and added
  /// tokens that are empty or whose id contradicts the vocabulary.
  static Result<std::unique_ptr<Tokenizer>> create(BpeDefinition definition, uint64_t fingerprint);

  using Tokenizer::encode;
  void encode(std::string_view text, const Emit &emit) override;
  size_t lastCut(std::string_view text) const override;
  uint64_t vocabulary() const override { return vocabulary_; }
  std::string_view bytesOf(uint32_t id) const override;
  std::optional<uint32_t> findToken(std::string_view content) const override;
  uint64_t fingerprint() const override { return fingerprint_; }

private:
  BpeTokenizer(BpeDefinition definition, BpeModel model, uint64_t fingerprint);
  /// False where `flush`, called with the bytes of the section that are done, ended it.
  bool encodeSection(std::string_view section, std::vector<uint32_t> &ids,
                     const std::function<bool(size_t)> &flush);

  BpeModel model_;
  AddedTokens first_;  ///< matched in the text as it stands
  AddedTokens second_; ///< those with `normalized`, matched in what lies between the first
  StringMap<uint32_t> added_;
  SplitPattern split_;
  bool addPrefixSpace_;
  bool mayCut_; ///< whether no word and no added token reaches across what lastSpaceAfterLetter() finds
  uint64_t fingerprint_;
  uint64_t vocabulary_ = 0;
  std::unordered_map<uint32_t, std::string> bytes_;
};

} // namespace trainc
