#include "runtime/data/tokenizer/bytes_tokenizer.h"

#include <algorithm>

namespace trainc {

namespace {

class BytesDecoder : public TokenDecoder {
public:
  std::string next(uint32_t id) override {
    return id < 256 ? std::string(1, static_cast<char>(id)) : std::string();
  }
};

} // namespace

Status BytesTokenizer::encode(const TextPiece &piece, const Emit &emit) {
  const std::string_view text = piece.text;
  std::array<uint32_t, 16384> ids;
  for (size_t done = 0; done < text.size();) {
    const size_t count = std::min(ids.size(), text.size() - done);
    for (size_t i = 0; i < count; ++i)
      ids[i] = static_cast<uint8_t>(text[done + i]);
    done += count;
    TRAINC_RETURN_IF_ERROR(emit(std::span(ids).first(count), done));
  }
  return {};
}

std::unique_ptr<TokenDecoder> BytesTokenizer::decoder() const { return std::make_unique<BytesDecoder>(); }

std::optional<uint32_t> BytesTokenizer::findToken(std::string_view content) const {
  if (content.size() != 1)
    return std::nullopt;
  return static_cast<uint8_t>(content[0]);
}

} // namespace trainc
