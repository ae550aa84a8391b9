// Where tensors lie in a safetensors file; see safetensors_view.h for the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A file of tensors in the order given, the same whoever writes which part of it. The data begin at a
/// multiple of 64 bytes. The metadata says "format": "pt", which Hugging Face asks for.
struct SafetensorsLayout {
  std::string header;            ///< all before the tensors
  std::vector<uint64_t> offsets; ///< of each tensor in the file
  uint64_t bytes = 0;            ///< of the file
};

/// What the header says of a tensor.
struct TensorEntry {
  std::string name;
  std::string_view dtype; ///< as the format spells it
  std::vector<uint64_t> shape;
  uint64_t bytes;
};

SafetensorsLayout layOutSafetensors(std::span<const TensorEntry> tensors);

} // namespace trainc
