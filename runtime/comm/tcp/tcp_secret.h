// What ranks know and strangers do not.
#pragma once

#include "runtime/base/status.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace trainc {

/// A nonce, a key, or a message authentication code (HMAC-SHA256).
using TcpDigest = std::array<std::byte, 32>;

/// Drawn anew each time.
TcpDigest drawNonce();

/// The code of the parts, one after the other, under a key of any length. Parts but the last have fixed
/// sizes.
TcpDigest authenticate(std::span<const std::byte> key,
                       std::initializer_list<std::span<const std::byte>> parts);

/// Takes as long for any two.
bool isSame(const TcpDigest &a, const TcpDigest &b);

/// The words in TRAINC_SECRET, or the content of the file that TRAINC_SECRET_FILE names, without the white
/// space around it. Fails (kInvalidInput) where neither is set, the file cannot be read, or the secret has
/// less than 16 characters.
Result<std::string> secretFromEnvironment();

template <typename Value> std::span<const std::byte> bytesOfValue(const Value &value) {
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<const std::byte> bytesOfText(std::string_view text) {
  return std::as_bytes(std::span(text));
}

} // namespace trainc
