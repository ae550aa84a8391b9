// A persistent tensor of a running plan, as checkpoints see it.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainc {

/// A tensor in host memory: row-major, little-endian. `bytes` are exactly those of dtype and shape and are
/// not owned.
struct StateTensor {
  std::string name; ///< logical: the Hugging Face name of a parameter, "exp_avg.NAME" of an optimizer state
  fb::DType dtype;
  std::vector<uint64_t> shape;
  std::span<std::byte> bytes;
};

/// "F32 [2, 3]", for messages.
std::string describe(const StateTensor &tensor);

} // namespace trainc
