#include "runtime/formats/safetensors_layout.h"

#include <cstring>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace trainc {

namespace {

constexpr size_t kAlignment = 64;

} // namespace

SafetensorsLayout layOutSafetensors(std::span<const TensorEntry> tensors) {
  SafetensorsLayout layout;
  layout.header.assign(sizeof(uint64_t), '\0');
  auto text = std::back_inserter(layout.header);
  fmt::format_to(text, R"({{"__metadata__":{{"format":"pt"}})");
  for (const TensorEntry &tensor : tensors) {
    layout.offsets.push_back(layout.bytes);
    layout.bytes += tensor.bytes;
    fmt::format_to(text, R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                   nlohmann::json(tensor.name).dump(), tensor.dtype, fmt::join(tensor.shape, ","),
                   layout.offsets.back(), layout.bytes);
  }
  layout.header += '}';
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
