// The groups that become kernels, and which of them may be merged.
#pragma once

#include "lib/Fusion/GroupOrder.h"
#include "lib/Fusion/ReadAnalysis.h"
#include "lib/Fusion/Waypoints.h"
#include "runtime/cost/machine.h"

#include "mlir/IR/Block.h"

#include <optional>
#include <vector>

namespace trainc {

/// Limits of one kernel.
struct FusionLimits {
  int64_t buffers = 24; ///< tensors read and written
  int64_t ops = 200;    ///< computed ops
  int64_t longestRow;   ///< TargetLimits::longestRow
  /// Of the machine for which the target chooses: launchBytes(), and ops from which on a free value is kept.
  int64_t launchBytes;
  unsigned freeOps;

  /// Of a machine, by its rates.
  static FusionLimits of(const Machine &machine, int64_t longestRow);
};

/// The ops of a block as a graph of groups. Views and free values are no nodes: edges look through them.
/// Groups of computed ops grow by merging; every other op stays alone. The graph stays acyclic.
class FusionGraph {
public:
  FusionGraph(mlir::Block &block, const ReadAnalysis &reads, FusionLimits limits);

  /// Merges producers into consumers, then groups that read the same value: that is a launch less.
  void fuse();

  /// Groups of computed ops, each in program order.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> kernels() const;
  /// The space of the group of `op`: rows x columns.
  std::pair<int64_t, int64_t> rowsAndColumns(mlir::Operation *op) const;
  /// True if an op outside its group uses the result of `op`.
  bool isOutput(mlir::Operation *op) const { return leavesGroup(node(op)); }
  /// Groups that fuse() came by in looking for ways between others.
  uint64_t searched() const { return searchedGroups; }
  /// Where a kernel of `members` belongs: the last of them, or the first user of a result if that comes
  /// before.
  mlir::Operation *place(llvm::ArrayRef<mlir::Operation *> members) const;

private:
  struct Node {
    mlir::Operation *op;
    const OpSpace *space;                  ///< null for ops that are not computed
    llvm::SmallVector<unsigned, 4> users;  ///< of the result
    llvm::SmallVector<unsigned, 4> after;  ///< users, and what must come later for the sake of states
    llvm::SmallVector<unsigned, 4> before; ///< the other way round
    unsigned group;
    /// The node that makes each of the space's reads, if one does.
    llvm::SmallVector<std::optional<unsigned>, 4> makers = {};
  };
  struct Group {
    llvm::SmallVector<unsigned, 4> members; ///< nodes in program order; empty once merged into another
    Space space;                            ///< of all members together
    Waypoints::View view;                   ///< likewise
    unsigned seen = 0;                      ///< the last search that came by
  };
  /// Groups that depend on the first of two, or that the second depends on; not both.
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
  std::optional<Between> findBetween(unsigned first, unsigned second);
  void merge(unsigned first, unsigned second, const Space &space, const Between &between);
  bool leavesGroup(unsigned node) const;

  FusionLimits limits;
  std::vector<Node> nodes;
  std::vector<Group> groups;
  Waypoints waypoints;
  GroupOrder order;      ///< respects all edges
  unsigned searches = 0; ///< by now, twice
  uint64_t searchedGroups = 0;
  llvm::SmallVector<unsigned> libraryCalls; ///< before each node
  llvm::DenseMap<mlir::Operation *, unsigned> index;
};

} // namespace trainc
