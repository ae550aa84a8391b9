#include "lib/Fusion/FusionGraph.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Fusion/Traffic.h"

#include "lib/Support/StoredElement.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

FusionGraph::FusionGraph(Block &block, const ReadAnalysis &reads, FusionLimits limits) : limits(limits) {
  addNodes(block, reads);
  addEdges(block);
}

// --- Construction ---

/// Whether the op takes long and needs much memory, so that values kept across it matter.
static bool isLibraryCall(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable)
    return false;
  KernelClass kind = executable.getKernelClass();
  return kind == KernelClass::Loop || (isGenerated(kind) && kind != KernelClass::StridedCopy);
}

void FusionGraph::addNodes(Block &block, const ReadAnalysis &reads) {
  unsigned calls = 0;
  for (Operation &op : block) {
    bool computed = reads.isComputed(&op);
    if (!computed && ReadAnalysis::isPrimitive(&op))
      continue; // a view or free value
    unsigned id = nodes.size();
    index[&op] = id;
    nodes.push_back({&op, computed ? &reads.space(&op) : nullptr, {}, {}, {}, id});
    libraryCalls.push_back(calls += isLibraryCall(&op));
    Group group;
    group.members = {id};
    if (computed)
      group.space = *nodes.back().space;
    groups.push_back(std::move(group));
  }
  order.reset(groups.size());
}

std::optional<unsigned> FusionGraph::producer(Value value) const {
  auto found = index.find(ReadAnalysis::stripReshapes(value).getDefiningOp());
  if (found == index.end())
    return std::nullopt;
  return found->second;
}

void FusionGraph::addEdges(Block &block) {
  auto addOrder = [&](unsigned from, unsigned to) {
    nodes[from].after.push_back(to);
    nodes[to].before.push_back(from);
  };
  auto addEdge = [&](Value value, unsigned to) {
    std::optional<unsigned> from = producer(value);
    if (from) {
      nodes[*from].users.push_back(to);
      addOrder(*from, to);
    }
    return from;
  };
  for (auto [id, node] : llvm::enumerate(nodes)) {
    if (node.space)
      for (const Read &read : node.space->reads)
        node.producers.push_back(addEdge(read.value, id));
    else
      for (Value operand : node.op->getOperands())
        addEdge(operand, id);
  }
  for (auto [before, after] : StateOrder(block).pairs()) {
    auto from = index.find(before), to = index.find(after);
    if (from != index.end() && to != index.end())
      addOrder(from->second, to->second);
  }
  waypoints.find(nodes.size(), [&](unsigned id) { return ArrayRef(nodes[id].after); });
  for (auto [id, group] : llvm::enumerate(groups))
    group.view = waypoints.of(id);
}

// --- Results ---

SmallVector<SmallVector<Operation *>> FusionGraph::kernels() const {
  SmallVector<SmallVector<Operation *>> kernels;
  for (const Group &group : groups) {
    if (group.members.empty() || !nodes[group.members.front()].space)
      continue;
    SmallVector<Operation *> &ops = kernels.emplace_back();
    for (unsigned member : group.members)
      ops.push_back(nodes[member].op);
  }
  return kernels;
}

std::pair<int64_t, int64_t> FusionGraph::rowsAndColumns(Operation *op) const {
  const Group &group = groups[nodes[node(op)].group];
  int64_t columns = group.space.columns.empty() ? group.space.count : group.space.columns.back();
  return {group.space.count / columns, columns};
}

bool FusionGraph::leavesGroup(unsigned id) const {
  return llvm::any_of(nodes[id].users, [&](unsigned user) { return nodes[user].group != nodes[id].group; });
}

Operation *FusionGraph::insertionPoint(ArrayRef<Operation *> members) const {
  unsigned first = node(members.back()), group = nodes[first].group;
  for (Operation *op : members)
    for (unsigned user : nodes[node(op)].users)
      if (nodes[user].group != group)
        first = std::min(first, user);
  return nodes[first].op;
}

// --- Merging ---

/// Merges the groups of two nodes if all rules allow it.
bool FusionGraph::tryMerge(unsigned producerOrSibling, unsigned consumer) {
  if (!nodes[producerOrSibling].space || !nodes[consumer].space)
    return false;
  unsigned a = nodes[producerOrSibling].group, b = nodes[consumer].group;
  if (a == b)
    return false;
  ++triedPairs;
  auto [first, second] = order.isBefore(a, b) ? std::pair(a, b) : std::pair(b, a);
  std::optional<Space> space = joinSpaces(groups[first], groups[second]);
  if (!space || !edgesFit(groups[first], groups[second], *space) ||
      !withinLimits(groups[first], groups[second]) ||
      !isWorthwhile(std::min(producerOrSibling, consumer), std::max(producerOrSibling, consumer)))
    return false;
  std::optional<Between> between = findBetween(first, second);
  if (!between)
    return false;
  merge(first, second, *space, *between);
  return true;
}

/// Orders the merged group after every group that either one depends on, and before every group that depends
/// on either.
void FusionGraph::merge(unsigned first, unsigned second, const Space &space, const Between &between) {
  Group &into = groups[second], &from = groups[first];
  SmallVector<unsigned> members;
  std::merge(from.members.begin(), from.members.end(), into.members.begin(), into.members.end(),
             std::back_inserter(members));
  for (unsigned member : from.members)
    nodes[member].group = second;
  from.members.clear();
  into.members.assign(members.begin(), members.end());
  into.space = space;
  into.view = into.view | from.view;

  SmallVector<unsigned> moved = between.groups;
  if (!between.afterFirst)
    moved.push_back(second);
  order.moveAfter(between.afterFirst ? second : first, std::move(moved));
  order.remove(first);
}

bool FusionGraph::mergeProducers() {
  bool changed = false;
  for (auto [id, consumer] : llvm::enumerate(nodes)) {
    if (!consumer.space)
      continue;
    SmallVector<std::pair<int64_t, unsigned>> producers;
    for (auto [read, made] : llvm::zip_equal(consumer.space->reads, consumer.producers))
      if (made)
        producers.push_back({-tensorBytes(read.value.getType()), *made});
    llvm::sort(producers); // largest first
    for (auto [bytes, made] : producers)
      changed |= tryMerge(made, id);
  }
  return changed;
}

/// Maximum number of earlier readers of a value with which a later reader is tried. In a deep model a value
/// may have as many readers as there are layers, and a kernel holds few of them (FusionLimits::buffers).
static constexpr size_t kEarlierReaders = 256;

/// Merges the group of `late` with those of the nearest nodes of `early`. A rejected group is tried again
/// only after a merge.
bool FusionGraph::mergeWithEarlier(ArrayRef<unsigned> early, unsigned late) {
  bool changed = false;
  early = early.take_back(std::min(early.size(), kEarlierReaders));
  llvm::SmallDenseSet<std::pair<unsigned, unsigned>>
      rejected; // pairs of group and library calls, on which isWorthwhile() depends
  for (unsigned id : early) {
    const std::pair<unsigned, unsigned> asked = {nodes[id].group, libraryCalls[id]};
    if (rejected.contains(asked))
      continue;
    if (tryMerge(id, late)) {
      changed = true;
      rejected.clear();
    } else {
      rejected.insert(asked);
    }
  }
  return changed;
}

bool FusionGraph::mergeSiblings() {
  llvm::MapVector<Value, SmallVector<unsigned>> readers;
  for (auto [id, node] : llvm::enumerate(nodes))
    if (node.space)
      for (const Read &read : node.space->reads)
        if (read.value && read.pattern.isIdentity() && !read.table && node.space->count > 1)
          readers[read.value].push_back(id);
  bool changed = false;
  for (auto &[value, ids] : readers)
    for (size_t i = 1; i < ids.size(); ++i)
      changed |= mergeWithEarlier(ArrayRef(ids).take_front(i), ids[i]);
  return changed;
}

void FusionGraph::fuse() {
  while (mergeProducers() || mergeSiblings()) {
  }
}
