// GPT-2's byte alphabet: printable characters that represent bytes in byte-level vocabularies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// `bytes` in the byte alphabet: printable characters of Latin-1 (! to ~, ¡ to ¬, ® to ÿ) represent
/// themselves; U+0100 and up, in order, represent the other 68 bytes (a space is U+0120).
std::string inByteAlphabet(std::string_view bytes);

/// The bytes that `token`, a vocabulary entry, represents; nothing if a character is not in the byte
/// alphabet.
std::optional<std::string> bytesOfToken(std::string_view token);

} // namespace trainc
