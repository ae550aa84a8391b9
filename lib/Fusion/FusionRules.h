// Rules for merging two groups of a fusion graph.
#pragma once

#include "lib/Fusion/FusionGraph.h"
#include "plan/cost/machine.h"

namespace trainc {

/// Limits of one kernel.
struct FusionLimits {
  int64_t buffers = 24; ///< tensors read and written
  int64_t ops = 200;    ///< computed ops
  int64_t longestRow;   ///< TargetLimits::longestRow
  /// Rates of the machine for which the target optimizes. For `launchBytes` see launchBytes(). A value of at
  /// most `freeOps` ops is free: it is recomputed instead of kept.
  int64_t launchBytes;
  unsigned freeOps;

  /// Returns the limits for a machine.
  static FusionLimits of(const Machine &machine, int64_t longestRow);
};

/// Whether groups of a graph fit into one kernel, and whether one kernel is better. The rules read the graph
/// as it is at each call, and do not ask whether a merge would be a cycle. The graph must outlive the rules.
class FusionRules {
public:
  FusionRules(const FusionGraph &graph, FusionLimits limits) : graph(graph), limits(limits) {}

  /// Returns the space of the kernel of both groups, of which `first` is earlier in the order; none if they
  /// do not fit into one kernel.
  std::optional<Space> jointSpace(const FusionGraph::Group &first, const FusionGraph::Group &second) const;
  /// Whether the group of the node `early` is worth merging with that of `late`, a later node.
  bool isWorthwhile(unsigned early, unsigned late) const;

private:
  using Node = FusionGraph::Node;
  using Group = FusionGraph::Group;

  std::optional<Space> joinSpaces(const Group &producer, const Group &consumer) const;
  bool edgesFit(const Group &producer, const Group &consumer, Space &space) const;
  bool readFits(const Node &consumer, const Read &read, const Node &producer, const Space &space) const;
  bool withinLimits(const Group &a, const Group &b) const;
  bool feedsOnly(const Group &first, const Group &second) const;
  int64_t inputBytes(const Group &group) const;
  int64_t outputBytes(const Group &group) const;

  const FusionGraph &graph;
  FusionLimits limits;
};

} // namespace trainc
