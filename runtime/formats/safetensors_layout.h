// Computes the layout of a safetensors file; see safetensors_view.h for the format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Layout of a file with tensors in the order given, independent of which process writes which part. The data
/// section is aligned to 64 bytes. The metadata has "format": "pt", which Hugging Face requires.
struct SafetensorsLayout {
  std::string header;            ///< all bytes before the tensors
  std::vector<uint64_t> offsets; ///< file offset of each tensor
  uint64_t bytes = 0;            ///< file size
};

/// Header entry of a tensor.
struct TensorEntry {
  std::string name;
  std::string_view dtype; ///< in the format's spelling
  std::vector<uint64_t> shape;
  uint64_t bytes;
};

SafetensorsLayout layOutSafetensors(std::span<const TensorEntry> tensors);

} // namespace trainc
