// The tokenizer without a vocabulary.
#pragma once

#include "runtime/data/tokenizer/tokenizer.h"

#include <array>

namespace trainc {

/// A byte's id is its value.
class BytesTokenizer : public Tokenizer {
public:
  using Tokenizer::encode;
  Status encode(const TextPiece &piece, const Emit &emit) override;
  size_t lastCut(std::string_view text) const override { return text.size(); }
  const AroundText &aroundText() const override { return around_; }
  uint64_t vocabulary() const override { return 256; }
  std::unique_ptr<TokenDecoder> decoder() const override;
  bool knows(uint32_t id) const override { return id < vocabulary(); }
  std::optional<uint32_t> findToken(std::string_view content) const override;
  uint64_t fingerprint() const override { return 0; }

private:
  AroundText around_;
};

} // namespace trainc
