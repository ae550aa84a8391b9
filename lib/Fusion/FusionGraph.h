// The ops of a block as groups that become kernels.
#pragma once

#include "lib/Analysis/StateOrder.h"
#include "lib/Fusion/GroupOrder.h"
#include "lib/Fusion/ReadAnalysis.h"
#include "lib/Fusion/Waypoints.h"

#include "mlir/IR/Block.h"

#include <optional>
#include <vector>

namespace trainc {

/// The ops of a block as a graph of groups. Views and free values are not nodes; edges pass through them.
/// Groups of computed ops grow by merging; every other op is a group of its own. The graph stays acyclic.
class FusionGraph {
public:
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
  };
  /// Groups between two others: either those that depend on the first, or those that the second depends on.
  struct Between {
    llvm::SmallVector<unsigned> groups;
    bool afterFirst;
  };

  /// `fixed` are the pairs of ops whose order side effects fix.
  FusionGraph(mlir::Block &block, const ReadAnalysis &reads, llvm::ArrayRef<OpPair> fixed);

  /// Nodes in program order.
  llvm::ArrayRef<Node> nodes() const { return nodes_; }
  const Node &node(unsigned id) const { return nodes_[id]; }
  /// Groups by number; a node is at first the only member of the group with its number.
  llvm::ArrayRef<Group> groups() const { return groups_; }
  const Group &group(unsigned number) const { return groups_[number]; }
  /// Number of library calls up to and including a node.
  unsigned libraryCalls(unsigned id) const { return libraryCalls_[id]; }
  /// Whether a group precedes another one in an order that is consistent with all edges.
  bool isBefore(unsigned group, unsigned other) const { return order_.isBefore(group, other); }
  /// Whether a node of another group uses the result of a node.
  bool leavesGroup(unsigned id) const;
  /// Whether a waypoint of a third group is on a path from one group to the other.
  bool passesWaypoint(unsigned from, unsigned to) const;

  /// Merges the group `first` into the later group `second`; `space` is their joint space.
  void merge(unsigned first, unsigned second, const Space &space, const Between &between);

  /// Returns the groups of computed ops, each in program order.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> kernels() const;
  /// Returns the iteration space of the op's group: rows x columns.
  std::pair<int64_t, int64_t> rowsAndColumns(mlir::Operation *op) const;
  /// Whether an op outside the group of `op` uses its result.
  bool isOutput(mlir::Operation *op) const { return leavesGroup(index_.lookup(op)); }
  /// Returns the op before which a kernel of `members` is inserted: the last member, or the first user
  /// outside the group if that user is earlier.
  mlir::Operation *insertionPoint(llvm::ArrayRef<mlir::Operation *> members) const;

private:
  std::optional<unsigned> producer(mlir::Value value) const;
  void addNodes(mlir::Block &block, const ReadAnalysis &reads);
  void addEdges(llvm::ArrayRef<OpPair> fixed);

  std::vector<Node> nodes_;
  std::vector<Group> groups_;
  Waypoints waypoints_;
  GroupOrder order_;
  llvm::SmallVector<unsigned> libraryCalls_;
  llvm::DenseMap<mlir::Operation *, unsigned> index_;
};

} // namespace trainc
