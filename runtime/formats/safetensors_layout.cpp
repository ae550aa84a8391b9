#include "runtime/formats/safetensors_layout.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace trainc {

namespace {

constexpr size_t kAlignment = 64;

} // namespace

SafetensorsLayout layOutSafetensors(std::span<const TensorEntry> tensors) {
  nlohmann::ordered_json json;
  json["__metadata__"]["format"] = "pt";
  SafetensorsLayout layout;
  for (const TensorEntry &tensor : tensors) {
    layout.offsets.push_back(layout.bytes);
    layout.bytes += tensor.bytes;
    json[tensor.name] = {{"dtype", tensor.dtype},
                         {"shape", tensor.shape},
                         {"data_offsets", {layout.offsets.back(), layout.bytes}}};
  }
  layout.header.assign(sizeof(uint64_t), '\0');
  layout.header += json.dump();
  // Padding with blanks is valid JSON.
  layout.header.resize((layout.header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = layout.header.size() - sizeof(uint64_t);
  std::memcpy(layout.header.data(), &length, sizeof(length));
  for (uint64_t &offset : layout.offsets)
    offset += layout.header.size();
  layout.bytes += layout.header.size();
  return layout;
}

} // namespace trainc
