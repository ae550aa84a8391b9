// Numbers of another width, byte order or kind than the tokens that a file is expected to hold.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <optional>
#include <span>
#include <string_view>

namespace trainc {

/// Numbers that a file holds instead of the tokens expected.
struct OtherNumbers {
  std::string_view name;           ///< as in "the file looks like uint32"
  std::string_view numpyType = {}; ///< with which NumPy reads them; empty if it has none
  std::string_view condition = {}; ///< clause before the advice to write them anew, with a space at its end
  bool isTokenDType = false;       ///< `name` is a dtype of tokens, which --data-dtype can give
};

/// Returns the numbers that a file surely holds instead of tokens of `dtype`, judged by its `head`; nothing
/// if it may hold such tokens. `vocabulary` is the number of ids; 0 if unknown.
std::optional<OtherNumbers> findOtherNumbers(std::span<const std::byte> head, SafetensorsDType dtype,
                                             uint64_t vocabulary);

/// Whether a file of uint16 tokens may be a text in UTF-16: nearly all its numbers are characters of ASCII,
/// which few of the tokens of a large vocabulary are.
bool mayBeUtf16(std::span<const std::byte> head, uint64_t vocabulary);

} // namespace trainc
