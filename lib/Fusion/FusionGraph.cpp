#include "lib/Fusion/FusionGraph.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Fusion/BlockOrder.h"
#include "lib/Fusion/Traffic.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

/// Reading a value of fewer bytes twice costs nothing that counts.
static constexpr int64_t kLargeValue = 4096;

FusionGraph::FusionGraph(Block &block, const ReadAnalysis &reads, FusionLimits limits) : limits(limits) {
  addNodes(block, reads);
  addEdges(block);
}

//===-- Construction
//---------------------------------------------------------------------------------------===//

/// Ops that take long and need much memory, between which it matters what is kept.
static bool isLibraryCall(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  if (!executable)
    return false;
  KernelClass kind = executable.getKernelClass();
  return kind != KernelClass::Alias && kind != KernelClass::StridedCopy;
}

void FusionGraph::addNodes(Block &block, const ReadAnalysis &reads) {
  unsigned calls = 0;
  for (Operation &op : block) {
    bool computed = reads.isComputed(&op);
    if (!computed && ReadAnalysis::isPrimitive(&op))
      continue; // a view or free value
    unsigned id = nodes.size();
    index[&op] = id;
    nodes.push_back({&op, computed ? &reads.space(&op) : nullptr, {}, {}, id});
    libraryCalls.push_back(calls += isLibraryCall(&op));
    Group group;
    group.members = {id};
    group.place = id;
    if (computed)
      group.space = *nodes.back().space;
    groups.push_back(std::move(group));
    line.push_back(id);
  }
}

std::optional<unsigned> FusionGraph::producer(Value value) const {
  auto found = index.find(ReadAnalysis::stripReshapes(value).getDefiningOp());
  if (found == index.end())
    return std::nullopt;
  return found->second;
}

void FusionGraph::addEdges(Block &block) {
  auto addEdge = [&](Value value, unsigned to) {
    if (std::optional<unsigned> from = producer(value))
      nodes[*from].users.push_back(to);
  };
  for (auto [id, node] : llvm::enumerate(nodes)) {
    if (node.space)
      for (const Read &read : node.space->reads)
        addEdge(read.value, id);
    else
      for (Value operand : node.op->getOperands())
        addEdge(operand, id);
  }
  for (auto [before, after] : stateOrder(block)) {
    auto from = index.find(before), to = index.find(after);
    if (from != index.end() && to != index.end())
      nodes[from->second].later.push_back(to->second);
  }
}

//===-- Results
//--------------------------------------------------------------------------------------------===//

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

Operation *FusionGraph::place(ArrayRef<Operation *> members) const {
  unsigned first = node(members.back()), group = nodes[first].group;
  for (Operation *op : members)
    for (unsigned user : nodes[node(op)].users)
      if (nodes[user].group != group)
        first = std::min(first, user);
  return nodes[first].op;
}

/// Looks for a way from one group to a later one through third groups; `reached` receives the places of those
/// that depend on `from` and stand before `to`. Ways lead forward in `line`, so nothing after `to` matters.
bool FusionGraph::reachesThroughOthers(unsigned from, unsigned to, llvm::BitVector &reached) const {
  unsigned first = groups[from].place, last = groups[to].place;
  reached.resize(last - first);
  SmallVector<unsigned> stack{from};
  while (!stack.empty()) {
    unsigned current = stack.pop_back_val();
    for (unsigned member : groups[current].members)
      for (unsigned user : llvm::concat<const unsigned>(nodes[member].users, nodes[member].later)) {
        unsigned next = nodes[user].group;
        if (next == to && current != from)
          return true;
        unsigned place = groups[next].place;
        if (next == current || place >= last || reached.test(place - first))
          continue;
        reached.set(place - first);
        stack.push_back(next);
      }
  }
  return false;
}

//===-- Merging
//--------------------------------------------------------------------------------------------===//

/// Merges the groups of two nodes if all rules allow it.
bool FusionGraph::tryMerge(unsigned producerOrSibling, unsigned consumer) {
  if (!nodes[producerOrSibling].space || !nodes[consumer].space)
    return false;
  unsigned a = nodes[producerOrSibling].group, b = nodes[consumer].group;
  if (a == b)
    return false;
  auto [first, second] = groups[a].place < groups[b].place ? std::pair(a, b) : std::pair(b, a);
  std::optional<Space> space = joinSpaces(groups[first], groups[second]);
  llvm::BitVector reached;
  if (!space || !edgesFit(groups[first], groups[second], *space) ||
      !withinLimits(groups[first], groups[second]) ||
      !isWorthwhile(std::min(producerOrSibling, consumer), std::max(producerOrSibling, consumer)) ||
      reachesThroughOthers(first, second, reached))
    return false;
  merge(first, second, *space, reached);
  return true;
}

/// The merged group takes a place behind everything between the two that does not depend on the first.
void FusionGraph::merge(unsigned first, unsigned second, const Space &space,
                        const llvm::BitVector &afterFirst) {
  Group &into = groups[second], &from = groups[first];
  unsigned begin = from.place, end = into.place;
  SmallVector<unsigned> members;
  std::merge(from.members.begin(), from.members.end(), into.members.begin(), into.members.end(),
             std::back_inserter(members));
  for (unsigned member : from.members)
    nodes[member].group = second;
  from.members.clear();
  into.members.assign(members.begin(), members.end());
  into.space = space;

  SmallVector<unsigned> before, after;
  for (unsigned place = begin; place < end; ++place)
    if (unsigned group = line[place]; group != first && !groups[group].members.empty())
      (afterFirst.test(place - begin) ? after : before).push_back(group);
  unsigned place = begin;
  auto put = [&](unsigned group) {
    line[place] = group;
    groups[group].place = place++;
  };
  llvm::for_each(before, put);
  put(second);
  llvm::for_each(after, put);
  while (place <= end)
    line[place++] = first; // empty
}

bool FusionGraph::mergeProducers() {
  bool changed = false;
  for (auto [id, consumer] : llvm::enumerate(nodes)) {
    if (!consumer.space)
      continue;
    SmallVector<std::pair<int64_t, unsigned>> producers;
    for (const Read &read : consumer.space->reads)
      if (std::optional<unsigned> made = producer(read.value))
        producers.push_back({-bytesOf(read.value.getType()), *made});
    llvm::sort(producers); // the most bytes first
    for (auto [bytes, made] : producers)
      changed |= tryMerge(made, id);
  }
  return changed;
}

bool FusionGraph::mergeSiblings() {
  llvm::MapVector<Value, SmallVector<unsigned>> readers;
  for (auto [id, node] : llvm::enumerate(nodes))
    if (node.space)
      for (const Read &read : node.space->reads)
        if (read.value && read.pattern.isIdentity() && !read.table &&
            bytesOf(read.value.getType()) >= kLargeValue)
          readers[read.value].push_back(id);
  bool changed = false;
  for (auto &[value, ids] : readers)
    for (size_t i = 1; i < ids.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        changed |= tryMerge(ids[j], ids[i]);
  return changed;
}

void FusionGraph::fuse() {
  while (mergeProducers() || mergeSiblings()) {
  }
}
