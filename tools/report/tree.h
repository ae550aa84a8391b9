// The model as a tree of scopes, with memory and cost of each.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// A scope of the model, or a parameter in it. Numbers include all descendants, and are those of one rank
/// unless stated otherwise.
struct TreeNode {
  std::string name;             ///< last component of the name: "attn" for "h.3.attn"
  uint32_t parent;              ///< index among the nodes; the root is its own parent
  uint64_t parameters = 0;      ///< number of elements, over all ranks
  uint64_t persistentBytes = 0; ///< bytes that live across entries: parameters, gradients, optimizer states
  uint64_t peakBytes = 0;       ///< bytes of values at the peak
  double flops = 0;             ///< per step
  double bytes = 0;             ///< bytes moved between memory and processor per step
  double seconds = 0;           ///< predicted time of its instructions per step, without overlap
};

/// Node 0 is the model; instructions and bytes without a scope count only there. Parents come before their
/// children.
std::vector<TreeNode> treeOf(const Analysis &analysis);

} // namespace trainc::report
