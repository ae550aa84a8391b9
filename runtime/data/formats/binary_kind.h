// Files of binary formats that people take for tokens or for texts.
#pragma once

#include "runtime/data/formats/foreign_file.h"

#include <cstdint>
#include <cstring>

namespace trainc {

// Advice that kinds of text share.
inline constexpr std::string_view kFromNumpy =
    "in Python: safetensors.numpy.save_file({'NAME': array, ...}, 'data.safetensors')";
inline constexpr std::string_view kExtractText =
    "write the text alone to a file, and make tokens of that: trainc "
    "tokenize --tokenizer=bytes TEXT -o tokens.bin";
inline constexpr std::string_view kNameData = "name the file of the data";

/// The number of 32 bits in the file's order at `index`, counted in such numbers.
inline uint32_t wordAt(std::string_view bytes, size_t index) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + index * sizeof(word), sizeof(word));
  return word;
}

inline uint32_t swappedBytes(uint32_t word) { return __builtin_bswap32(word); }

/// The kind of a file whose bytes begin as those of a known binary format, or nothing. `extension` is in
/// lower case; `isText` tells that the bytes are a text, as which words at the start of a format prove
/// nothing.
std::optional<ForeignKind> findBinaryKind(std::string_view extension, std::string_view bytes, bool isText);

} // namespace trainc
