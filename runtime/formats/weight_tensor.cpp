#include "runtime/formats/weight_tensor.h"

#include "base/hash.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

uint64_t WeightTensor::elements() const {
  uint64_t count = 1;
  for (const uint64_t extent : shape)
    count *= extent;
  return count;
}

std::span<const std::byte> WeightTensor::read(uint64_t offset, uint64_t count,
                                              std::vector<std::byte> &staging) const {
  if (!decoder)
    return stored.subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
  staging.resize(count);
  decoder->decode(offset / sizeof(float),
                  {reinterpret_cast<float *>(staging.data()), static_cast<size_t>(count / sizeof(float))});
  return staging;
}

std::string describe(const WeightTensor &tensor) {
  return fmt::format("{} [{}]", dtypeName(tensor.dtype), fmt::join(tensor.shape, ", "));
}

bool sameContent(const WeightTensor &a, const WeightTensor &b) {
  if (a.dtype != b.dtype || a.shape != b.shape)
    return false;
  std::vector<std::byte> ofA, ofB;
  for (uint64_t begin = 0; begin < a.bytes(); begin += kHashChunkBytes) {
    const uint64_t count = std::min<uint64_t>(kHashChunkBytes, a.bytes() - begin);
    if (!std::ranges::equal(a.read(begin, count, ofA), b.read(begin, count, ofB)))
      return false;
  }
  return true;
}

} // namespace trainc
