#include "runtime/data/tokenizer/byte_alphabet.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <array>

namespace trainc {

namespace {

constexpr uint32_t kFirstStandIn = 0x100;
constexpr uint32_t kStandIns = 68;

constexpr bool isPrintable(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<uint32_t, 256> makeAlphabet() {
  std::array<uint32_t, 256> alphabet{};
  uint32_t next = kFirstStandIn;
  for (uint32_t byte = 0; byte < alphabet.size(); ++byte)
    alphabet[byte] = isPrintable(byte) ? byte : next++;
  return alphabet;
}
constexpr std::array<uint32_t, 256> kAlphabet = makeAlphabet();

constexpr std::array<uint8_t, kFirstStandIn + kStandIns> makeInverse() {
  std::array<uint8_t, kFirstStandIn + kStandIns> inverse{};
  for (uint32_t byte = 0; byte < kAlphabet.size(); ++byte)
    inverse[kAlphabet[byte]] = static_cast<uint8_t>(byte);
  return inverse;
}
constexpr auto kInverse = makeInverse();

} // namespace

std::optional<std::string> bytesOfToken(std::string_view token) {
  std::string bytes;
  for (size_t position = 0; position < token.size();) {
    const std::optional<uint32_t> point = nextCharacter(token, position);
    if (!point || *point >= kInverse.size() || (*point < kFirstStandIn && !isPrintable(*point)))
      return std::nullopt;
    bytes += static_cast<char>(kInverse[*point]);
  }
  return bytes;
}

std::string inByteAlphabet(std::string_view bytes) {
  std::string token;
  token.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes)
    appendUtf8(kAlphabet[static_cast<uint8_t>(byte)], token);
  return token;
}

} // namespace trainc
