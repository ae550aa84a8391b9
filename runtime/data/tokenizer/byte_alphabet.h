// GPT-2's printable stand-ins for bytes, in which byte-level vocabularies are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// `bytes`, each written as the character that stands for it: itself for the printable ones of Latin-1 (! to
/// ~, ¡ to ¬, ® to ÿ), U+0100 and up, in order, for the 68 others (a space is U+0120).
std::string inByteAlphabet(std::string_view bytes);

/// The bytes that `token`, a vocabulary entry, stands for; nothing when it has a character that stands for no
/// byte.
std::optional<std::string> bytesOfToken(std::string_view token);

} // namespace trainc
