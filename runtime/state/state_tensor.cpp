#include "runtime/state/state_tensor.h"

#include <fmt/ranges.h>

namespace trainc {

std::string describe(const StateTensor &tensor) {
  return fmt::format("{} [{}]", fb::EnumNameDType(tensor.dtype), fmt::join(tensor.shape, ", "));
}

} // namespace trainc
