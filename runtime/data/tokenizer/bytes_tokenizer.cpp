#include "runtime/data/tokenizer/bytes_tokenizer.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr std::array<char, 256> makeBytes() {
  std::array<char, 256> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i);
  return bytes;
}
constexpr std::array<char, 256> kBytes = makeBytes();

} // namespace

void BytesTokenizer::encode(std::string_view text, const Emit &emit) {
  std::array<uint32_t, 16384> ids;
  for (size_t done = 0; done < text.size();) {
    const size_t count = std::min(ids.size(), text.size() - done);
    for (size_t i = 0; i < count; ++i)
      ids[i] = static_cast<uint8_t>(text[done + i]);
    done += count;
    if (!emit(std::span(ids).first(count), done))
      return;
  }
}

std::string_view BytesTokenizer::bytesOf(uint32_t id) const {
  return id < kBytes.size() ? std::string_view(&kBytes[id], 1) : std::string_view();
}

std::optional<uint32_t> BytesTokenizer::findToken(std::string_view content) const {
  if (content.size() != 1)
    return std::nullopt;
  return static_cast<uint8_t>(content[0]);
}

} // namespace trainc
