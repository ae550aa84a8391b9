#include "runtime/state/state_tensor.h"

#include "runtime/plan/dtype.h"

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

} // namespace trainc
