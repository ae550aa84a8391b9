// Secrets and message authentication codes.
#pragma once

#include "base/status.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace trainc {

/// A nonce, a key, or a message authentication code (HMAC-SHA256).
using TcpDigest = std::array<std::byte, 32>;

/// Returns a fresh random nonce.
TcpDigest drawNonce();

/// HMAC-SHA256 of the concatenated parts under a key of any length. All parts but the last have fixed sizes.
TcpDigest authenticate(std::span<const std::byte> key,
                       std::initializer_list<std::span<const std::byte>> parts);

/// Constant-time comparison.
bool isSame(const TcpDigest &a, const TcpDigest &b);

/// Returns TRAINC_SECRET, or the content of the file named by TRAINC_SECRET_FILE, without surrounding white
/// space. Fails with kInvalidInput if neither is set, the file cannot be read, is not regular or has more
/// than 64 KiB, or the secret has less than 16 characters.
Result<std::string> secretFromEnvironment();

/// Bytes of a value as they are sent. The value has no padding, whose content would be undefined.
template <typename Value> std::span<const std::byte> bytesOfValue(const Value &value) {
  static_assert(std::has_unique_object_representations_v<Value>);
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<const std::byte> bytesOfText(std::string_view text) {
  return std::as_bytes(std::span(text));
}

} // namespace trainc
