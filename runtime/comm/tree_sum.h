// The order in which values of several ranks are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

/// Adds buffers element by element over a fixed binary tree of their numbers, aligned at powers of two:
/// ((x0+x1)+(x2+x3))+((x4+x5)+(x6+x7)), where a right half that no number falls into is left out: three are
/// (x0+x1)+x2. So the bits of a sum depend on the values alone, not on sizes, on who adds or on how work is
/// split; and sums of aligned groups of 2^k, added over the same tree, have the bits of the flat sum.
class TreeSum {
public:
  /// For sums of at most `inputs` >= 1 buffers; the scratch memory is allocated here, none later.
  explicit TreeSum(uint32_t inputs);

  /// out[i] = the sum of inputs[.][i] for i in [0, elements). `out` may be one of the inputs; apart from
  /// that, buffers do not overlap.
  void sum(std::span<const float *const> inputs, float *out, size_t elements);

private:
  std::vector<float> scratch_; ///< one block for each level of the tree below its root
};

} // namespace trainc
