// Groups of ops that become kernels, and the merging of groups.
#pragma once

#include "lib/Fusion/GroupOrder.h"
#include "lib/Fusion/ReadAnalysis.h"
#include "lib/Fusion/Waypoints.h"
#include "plan/cost/machine.h"

#include "mlir/IR/Block.h"

#include <optional>
#include <vector>

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

/// The ops of a block as a graph of groups. Views and free values are not nodes; edges pass through them.
/// Groups of computed ops grow by merging; every other op is a group of its own. The graph stays acyclic.
class FusionGraph {
public:
  FusionGraph(mlir::Block &block, const ReadAnalysis &reads, FusionLimits limits);

  /// Merges producers into consumers, then groups that read the same value, which saves launches.
  void fuse();

  /// Returns the groups of computed ops, each in program order.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> kernels() const;
  /// Returns the iteration space of the op's group: rows x columns.
  std::pair<int64_t, int64_t> rowsAndColumns(mlir::Operation *op) const;
  /// Whether an op outside the group of `op` uses its result.
  bool isOutput(mlir::Operation *op) const { return leavesGroup(node(op)); }
  /// Number of pairs of groups that fuse() has tried to merge.
  uint64_t tried() const { return triedPairs; }
  /// Number of groups that fuse() has visited in searches for paths.
  uint64_t searched() const { return searchedGroups; }
  /// Returns the op before which a kernel of `members` is inserted: the last member, or the first user
  /// outside the group if that user is earlier.
  mlir::Operation *insertionPoint(llvm::ArrayRef<mlir::Operation *> members) const;

private:
  struct Node {
    mlir::Operation *op;
    const OpSpace *space;                  ///< null for ops that are not computed
    llvm::SmallVector<unsigned, 4> users;  ///< users of the result
    llvm::SmallVector<unsigned, 4> after;  ///< users, and later ops that access the same states
    llvm::SmallVector<unsigned, 4> before; ///< inverse of `after`
    unsigned group;
    /// For each read of the space, the node that produces the value read, if any.
    llvm::SmallVector<std::optional<unsigned>, 4> producers = {};
  };
  struct Group {
    llvm::SmallVector<unsigned, 4>
        members;          ///< nodes in program order; empty after merging into another group
    Space space;          ///< of all members together
    Waypoints::View view; ///< of all members together
    unsigned seen = 0;    ///< last search that visited the group
  };
  /// Groups between two others: either those that depend on the first, or those that the second depends on.
  struct Between {
    llvm::SmallVector<unsigned> groups;
    bool afterFirst;
  };
  unsigned node(mlir::Operation *op) const { return index.lookup(op); }
  std::optional<unsigned> producer(mlir::Value value) const;
  void addNodes(mlir::Block &block, const ReadAnalysis &reads);
  void addEdges(mlir::Block &block);

  bool mergeProducers();
  bool mergeWithEarlier(llvm::ArrayRef<unsigned> early, unsigned late);
  bool mergeSiblings();
  bool tryMerge(unsigned producerOrSibling, unsigned consumer);
  std::optional<Space> joinSpaces(const Group &producer, const Group &consumer) const;
  bool edgesFit(const Group &producer, const Group &consumer, Space &space) const;
  bool readFits(const Node &consumer, const Read &read, const Node &producer, const Space &space) const;
  bool withinLimits(const Group &a, const Group &b) const;
  bool feedsOnly(const Group &first, const Group &second) const;
  bool isWorthwhile(unsigned early, unsigned late) const;
  int64_t inputBytes(const Group &group) const;
  int64_t outputBytes(const Group &group) const;
  bool passesWaypoint(unsigned from, unsigned to) const;
  std::optional<Between> findBetween(unsigned first, unsigned second);
  void merge(unsigned first, unsigned second, const Space &space, const Between &between);
  bool leavesGroup(unsigned node) const;

  FusionLimits limits;
  std::vector<Node> nodes;
  std::vector<Group> groups;
  Waypoints waypoints;
  GroupOrder order;      ///< consistent with all edges
  unsigned searches = 0; ///< number of one-sided searches so far; every search has two sides
  uint64_t triedPairs = 0, searchedGroups = 0;
  llvm::SmallVector<unsigned> libraryCalls; ///< number of library calls up to and including each node
  llvm::DenseMap<mlir::Operation *, unsigned> index;
};

} // namespace trainc
