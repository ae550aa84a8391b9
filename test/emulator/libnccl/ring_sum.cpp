#include "test/emulator/libnccl/ring_sum.h"

#include "base/small_float.h"

namespace trainc::emulator {

namespace {

float add(float a, float b) { return a + b; }
template <typename Small> Small add(Small a, Small b) {
  return Small::nearest(static_cast<float>(a) + static_cast<float>(b));
}

template <typename Element>
bool sumAround(std::span<const std::byte *const> sources, uint64_t chunk, std::byte *out, size_t elements) {
  const auto at = [&](size_t place, size_t i) {
    return reinterpret_cast<const Element *>(sources[(chunk + 1 + place) % sources.size()])[i];
  };
  for (size_t i = 0; i < elements; ++i) {
    Element sum = at(0, i);
    for (size_t place = 1; place < sources.size(); ++place)
      sum = add(sum, at(place, i));
    reinterpret_cast<Element *>(out)[i] = sum;
  }
  return true;
}

} // namespace

bool ringSum(ncclDataType_t type, std::span<const std::byte *const> sources, uint64_t chunk, std::byte *out,
             size_t elements) {
  switch (type) {
  case ncclFloat32:
    return sumAround<float>(sources, chunk, out, elements);
  case ncclBfloat16:
    return sumAround<BFloat16>(sources, chunk, out, elements);
  case ncclFloat16:
    return sumAround<Float16>(sources, chunk, out, elements);
  default:
    return false;
  }
}

} // namespace trainc::emulator
