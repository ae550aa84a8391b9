#include "runtime/state/state_tensor.h"

#include "plan/facts/dtype.h"

#include <fmt/ranges.h>

namespace trainc {

uint64_t tensorBytes(const StateTensor &tensor) {
  uint64_t bytes = elementBytes(tensor.dtype);
  for (const uint64_t extent : tensor.shape)
    bytes *= extent;
  return bytes;
}

std::string describe(const StateTensor &tensor) {
  return fmt::format("{} [{}]", fb::EnumNameDType(tensor.dtype), fmt::join(tensor.shape, ", "));
}

SafetensorsLayout layOutSafetensors(std::span<const StateTensor> tensors) {
  std::vector<TensorEntry> entries;
  for (const StateTensor &tensor : tensors)
    entries.push_back({tensor.name, fb::EnumNameDType(tensor.dtype), tensor.shape, tensorBytes(tensor)});
  return layOutSafetensors(entries);
}

} // namespace trainc
