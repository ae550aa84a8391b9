// Summation order of values of several ranks.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

/// Sums buffers elementwise over a fixed binary tree of their indices, aligned to powers of two:
/// ((x0+x1)+(x2+x3))+((x4+x5)+(x6+x7)). Missing right subtrees are left out: three buffers give (x0+x1)+x2.
/// Sums accumulate in f32; bf16 and f16 results are rounded once, to nearest even. The bits of a sum
/// therefore depend only on the values, not on sizes, the adding rank or the partition of the work. Summing
/// aligned groups of 2^k in f32 and then the group sums over the same tree gives the bits of the flat sum.
class TreeSum {
public:
  /// Allocates scratch memory for sums of at most `inputs` >= 1 buffers; sum() does not allocate.
  explicit TreeSum(uint32_t inputs);

  /// Computes out[i] = sum of inputs[.][i] for i in [0, elements). `dtype` is F32, BF16 or F16; `outType` is
  /// the same or F32. `out` may be one of the inputs if the types are equal; otherwise buffers do not
  /// overlap.
  void sum(fb::DType dtype, std::span<const std::byte *const> inputs, fb::DType outType, std::byte *out,
           size_t elements);

private:
  std::vector<float> scratch_; ///< one block for each level of the tree
};

} // namespace trainc
