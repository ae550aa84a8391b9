// The order in which values of several ranks are added.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

/// Adds buffers element by element over a fixed binary tree of their numbers, aligned at powers of two:
/// ((x0+x1)+(x2+x3))+((x4+x5)+(x6+x7)), where a right half that no number falls into is left out: three are
/// (x0+x1)+x2. Sums are made in f32, and those that become bf16 and f16 numbers rounded once, to the nearest,
/// of two equally near to the even one. So the bits of a sum depend on the values alone, not on sizes, on who
/// adds or on how work is split; and sums of aligned groups of 2^k, added over the same tree, have the bits
/// of the flat sum in f32.
class TreeSum {
public:
  /// For sums of at most `inputs` >= 1 buffers; the scratch memory is allocated here, none later.
  explicit TreeSum(uint32_t inputs);

  /// out[i] = the sum of inputs[.][i] for i in [0, elements). The inputs are of `dtype`, F32, BF16 or F16,
  /// and `out` of `outType`, the same or F32. `out` may be one of the inputs if it is of their type; apart
  /// from that, buffers do not overlap.
  void sum(fb::DType dtype, std::span<const std::byte *const> inputs, fb::DType outType, std::byte *out,
           size_t elements);

private:
  std::vector<float> scratch_; ///< one block for each level of the tree
};

} // namespace trainc
