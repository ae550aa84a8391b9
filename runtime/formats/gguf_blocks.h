// Elements of GGUF's tensors as f32: floats of 16 and 32 bits, and quantised blocks.
#pragma once

#include "runtime/formats/gguf_file.h"

namespace trainc {

/// Whether decodeGgufElements() knows the type.
bool isDecodable(const GgufTensorType &type);

/// Names of the types that decodeGgufElements() knows, comma-separated, for messages.
std::string decodableTypes();

/// Computes elements [first, first + elements.size()) of a row-major run of blocks, which `stored` holds from
/// its first block on. The numbers are those of the Python package `gguf`, bit for bit. `type` is decodable.
void decodeGgufElements(const GgufTensorType &type, std::span<const std::byte> stored, uint64_t first,
                        std::span<float> elements);

} // namespace trainc
