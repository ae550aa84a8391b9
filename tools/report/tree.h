// The model as a tree of names, with what each part of it is made of and does in a step.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// A scope of the model, or a parameter in it. Numbers are of the node and all below it, of one rank unless
/// it says otherwise.
struct TreeNode {
  std::string name;             ///< its own part: "attn" of "h.3.attn"
  uint32_t parent;              ///< its place among the nodes; of the root its own
  uint64_t parameters = 0;      ///< numbers, of all ranks together
  uint64_t persistentBytes = 0; ///< that live across entries: parameters, gradients, optimizer states
  uint64_t peakBytes = 0;       ///< of values at the peak's moment
  double flops = 0;             ///< in a step
  double bytes = 0;             ///< that instructions move between memory and processor in a step
  double seconds = 0; ///< that its instructions are predicted to take in a step, one after the other
};

/// Node 0 is the model, with all that belongs to no scope in its sums alone. Parents stand before their
/// children.
std::vector<TreeNode> treeOf(const Analysis &analysis);

} // namespace trainc::report
