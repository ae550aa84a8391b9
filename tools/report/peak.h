// What holds a plan's peak, and what making values again would save at which price.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// Bytes of one kind in one block. The sum over all parts is the planned peak, to the byte.
struct PeakPart {
  std::string block; ///< "h.3"; empty for what belongs to no block
  Kind kind = Kind::Workspace;
  bool isUnused = false; ///< in no value's use at that moment: padding, and gaps between values
  uint64_t bytes = 0;
};

/// By block in the order of the model, then by kind; what belongs to no block, and what is unused, at the
/// end.
std::vector<PeakPart> peakParts(const Analysis &analysis);

/// Values that the same line of the model writes in each block, and that are there at the peak's moment.
struct Remake {
  std::string what;   ///< "h.*.mlp.c_fc: nn.matmul"
  std::string place;  ///< "gpt.mlir:14"
  uint64_t count = 0; ///< of values
  uint64_t bytes = 0; ///< together
  double seconds = 0; ///< that the instructions which write them take in a step: the least that it costs to
                      ///< make them again instead of keeping them
};

/// The activations that the peak's entry keeps over its peak and that recomputation could make again, which
/// are those of the forward: the largest sums first.
std::vector<Remake> remakesOf(const Analysis &analysis);

/// "h.*.mlp: nn.matmul" of "h.3.mlp: nn.matmul": a block's number stands for all.
std::string anyBlock(std::string_view text);

} // namespace trainc::report
