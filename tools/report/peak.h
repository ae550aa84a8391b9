// Composition of a plan's memory peak, and the cost of recomputing values.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// Bytes of one kind in one block. The sum over all parts is the planned peak, to the byte.
struct PeakPart {
  std::string block; ///< "h.3"; empty for bytes without a block
  Kind kind = Kind::Workspace;
  bool isUnused = false; ///< in no value at that moment: padding, and gaps between values
  uint64_t bytes = 0;
};

/// By block in the order of the model, then by kind; bytes without a block, and unused bytes, at the end.
std::vector<PeakPart> peakParts(const Analysis &analysis);

/// Values that the same line of the model writes in each block and that are live at the peak.
struct RecomputableValue {
  std::string what;   ///< "h.*.mlp.c_fc: nn.matmul"
  std::string place;  ///< "gpt.mlir:14"
  uint64_t count = 0; ///< number of values
  uint64_t bytes = 0; ///< total size
  /// Time per step of the instructions that write them: a lower bound of the cost of recomputation.
  double seconds = 0;
};

/// Forward activations that are live at the peak and that recomputation could avoid keeping; largest total
/// first.
std::vector<RecomputableValue> recomputableValues(const Analysis &analysis);

/// Replaces a block's number: "h.*.mlp: nn.matmul" for "h.3.mlp: nn.matmul".
std::string anyBlock(std::string_view text);

} // namespace trainc::report
