#include "lib/Fusion/FusionGraph.h"

#include "dialects/Interfaces/Interfaces.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

FusionGraph::FusionGraph(Block &block, const ReadAnalysis &reads, ArrayRef<OpPair> fixed) {
  addNodes(block, reads);
  addEdges(fixed);
}

// --- Construction ---

/// Whether the op takes long and needs much memory, so that values kept across it matter.
static bool isLibraryCall(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable)
    return false;
  KernelClass kind = executable.getKernelClass();
  return kind == KernelClass::Loop ||
         (isGenerated(kind) && kind != KernelClass::StridedCopy && kind != KernelClass::RowCopy);
}

void FusionGraph::addNodes(Block &block, const ReadAnalysis &reads) {
  unsigned calls = 0;
  for (Operation &op : block) {
    bool computed = reads.isComputed(&op);
    if (!computed && ReadAnalysis::isPrimitive(&op))
      continue; // a view or free value
    unsigned id = nodes_.size();
    index_[&op] = id;
    nodes_.push_back({&op, computed ? &reads.space(&op) : nullptr, {}, {}, {}, id});
    libraryCalls_.push_back(calls += isLibraryCall(&op));
    Group group;
    group.members = {id};
    if (computed)
      group.space = *nodes_.back().space;
    groups_.push_back(std::move(group));
  }
  order_.reset(groups_.size());
}

std::optional<unsigned> FusionGraph::producer(Value value) const {
  auto found = index_.find(ReadAnalysis::stripReshapes(value).getDefiningOp());
  if (found == index_.end())
    return std::nullopt;
  return found->second;
}

void FusionGraph::addEdges(ArrayRef<OpPair> fixed) {
  auto addOrder = [&](unsigned from, unsigned to) {
    nodes_[from].after.push_back(to);
    nodes_[to].before.push_back(from);
  };
  auto addEdge = [&](Value value, unsigned to) {
    std::optional<unsigned> from = producer(value);
    if (from) {
      nodes_[*from].users.push_back(to);
      addOrder(*from, to);
    }
    return from;
  };
  for (auto [id, node] : llvm::enumerate(nodes_)) {
    if (node.space)
      for (const Read &read : node.space->reads)
        node.producers.push_back(addEdge(read.value, id));
    else
      for (Value operand : node.op->getOperands())
        addEdge(operand, id);
  }
  for (auto [before, after] : fixed) {
    auto from = index_.find(before), to = index_.find(after);
    if (from != index_.end() && to != index_.end())
      addOrder(from->second, to->second);
  }
  waypoints_.find(nodes_.size(), [&](unsigned id) { return ArrayRef(nodes_[id].after); });
  for (auto [id, group] : llvm::enumerate(groups_))
    group.view = waypoints_.of(id);
}

// --- Results ---

SmallVector<SmallVector<Operation *>> FusionGraph::kernels() const {
  SmallVector<SmallVector<Operation *>> kernels;
  for (const Group &group : groups_) {
    if (group.members.empty() || !nodes_[group.members.front()].space)
      continue;
    SmallVector<Operation *> &ops = kernels.emplace_back();
    for (unsigned member : group.members)
      ops.push_back(nodes_[member].op);
  }
  return kernels;
}

std::pair<int64_t, int64_t> FusionGraph::rowsAndColumns(Operation *op) const {
  const Group &group = groups_[nodes_[index_.lookup(op)].group];
  int64_t columns = group.space.columns.empty() ? group.space.count : group.space.columns.back();
  return {group.space.count / columns, columns};
}

bool FusionGraph::leavesGroup(unsigned id) const {
  return llvm::any_of(nodes_[id].users,
                      [&](unsigned user) { return nodes_[user].group != nodes_[id].group; });
}

Operation *FusionGraph::insertionPoint(ArrayRef<Operation *> members) const {
  unsigned first = index_.lookup(members.back()), group = nodes_[first].group;
  for (Operation *op : members)
    for (unsigned user : nodes_[index_.lookup(op)].users)
      if (nodes_[user].group != group)
        first = std::min(first, user);
  return nodes_[first].op;
}

bool FusionGraph::passesWaypoint(unsigned from, unsigned to) const {
  return llvm::any_of(waypoints_.between(groups_[from].view, groups_[to].view),
                      [&](unsigned node) { return nodes_[node].group != from && nodes_[node].group != to; });
}

// --- Merging ---

/// Orders the merged group after every group that either one depends on, and before every group that depends
/// on either.
void FusionGraph::merge(unsigned first, unsigned second, const Space &space, const Between &between) {
  Group &into = groups_[second], &from = groups_[first];
  SmallVector<unsigned> members;
  std::merge(from.members.begin(), from.members.end(), into.members.begin(), into.members.end(),
             std::back_inserter(members));
  for (unsigned member : from.members)
    nodes_[member].group = second;
  from.members.clear();
  into.members.assign(members.begin(), members.end());
  into.space = space;
  into.view = into.view | from.view;

  SmallVector<unsigned> moved = between.groups;
  if (!between.afterFirst)
    moved.push_back(second);
  order_.moveAfter(between.afterFirst ? second : first, std::move(moved));
  order_.remove(first);
}
