// Tokenizers of Hugging Face's kind: steps before and after a model.
#pragma once

#include "runtime/data/tokenizer/added_tokens.h"
#include "runtime/data/tokenizer/cut_places.h"
#include "runtime/data/tokenizer/tokenizer.h"

namespace trainc {

/// Pipeline: added tokens, normalizer, pre-tokenizer, the model for each word.
class PipelineTokenizer : public Tokenizer {
public:
  /// `fingerprint` is that of the files that `definition` was read from. Fails if an
  /// added token would get the id of another token.
  static Result<std::unique_ptr<Tokenizer>> create(TokenizerDefinition definition, uint64_t fingerprint);

  using Tokenizer::encode;
  Status encode(const TextPiece &piece, const Emit &emit) override;
  size_t lastCut(std::string_view text) const override { return lastCutPlace(cutPlaces_, text); }
  const AroundText &aroundText() const override { return around_; }
  uint64_t vocabulary() const override { return vocabulary_; }
  std::unique_ptr<TokenDecoder> decoder() const override;
  bool knows(uint32_t id) const override { return pieces_.contains(id); }
  std::optional<uint32_t> findToken(std::string_view content) const override;
  uint64_t fingerprint() const override { return fingerprint_; }

private:
  class Encoding;
  class Decoder;

  /// `added` includes the normal form of tokens that are matched in normalized text.
  PipelineTokenizer(TokenizerDefinition definition, Normalizer normalizer, std::vector<AddedToken> added,
                    uint64_t fingerprint);

  std::unique_ptr<TokenModel> model_;
  Normalizer normalizer_;
  PreTokenizer preTokenizer_;
  AddedTokens first_;         ///< matched in the unmodified text
  AddedTokens second_;        ///< those with `normalized`, matched between matches of first_
  StringMap<uint32_t> added_; ///< by content
  CutPlaces cutPlaces_;
  AroundText around_;
  std::string file_; ///< for messages
  uint64_t fingerprint_;
  uint64_t vocabulary_ = 0;
  Units units_;
  std::vector<DecoderStep> decoderSteps_;
  struct Piece {
    std::string text;
    bool added;
  };
  std::unordered_map<uint32_t, Piece> pieces_; ///< decoded text of each id
};

} // namespace trainc
