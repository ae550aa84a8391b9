// Tokens that represent single bytes of characters without a token: <0x00> to <0xFF>.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

inline std::string fallbackToken(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

/// The byte that `token` represents, with hexadecimal digits in either case; nothing for another token.
inline std::optional<uint8_t> fallbackByte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>'))
    return std::nullopt;
  uint8_t byte = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0)
      return std::nullopt;
    byte = static_cast<uint8_t>(byte << 4 | digit);
  }
  return byte;
}

} // namespace trainc
