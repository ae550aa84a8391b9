#include "lib/Fusion/FusionRules.h"

#include "lib/Fusion/Traffic.h"

#include "lib/Support/StoredElement.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

/// Recomputing a free value takes arithmetic for each element; keeping it takes a write and a read. Most of
/// its ops are one instruction, some a division or a function.
static unsigned freeOpsOf(const Machine &machine) {
  constexpr double kMovedBytes = 2 * sizeof(float), kFlopsOfOp = 2.5;
  return unsigned(kMovedBytes / machine.bytesPerSecond * machine.flopsPerSecond / kFlopsOfOp);
}

FusionLimits FusionLimits::of(const Machine &machine, int64_t longestRow) {
  return {.longestRow = longestRow,
          .launchBytes = int64_t(trainc::launchBytes(machine)),
          .freeOps = freeOpsOf(machine)};
}

std::optional<Space> FusionRules::jointSpace(const Group &first, const Group &second) const {
  std::optional<Space> space = joinSpaces(first, second);
  return space && edgesFit(first, second, *space) && withinLimits(first, second) ? space : std::nullopt;
}

/// Returns the joint space of two groups. Their counts must be equal, or one group must have one element for
/// each row of the other.
std::optional<Space> FusionRules::joinSpaces(const Group &producer, const Group &consumer) const {
  bool producerIsFull = producer.space.count >= consumer.space.count;
  Space space = producerIsFull ? producer.space : consumer.space;
  const Space &other = producerIsFull ? consumer.space : producer.space;
  if (space.count == other.count) {
    space.alongColumns |= other.alongColumns;
    return restrictColumns(space.columns, other.columns) ? std::optional(space) : std::nullopt;
  }
  if (other.alongColumns || space.count % other.count != 0)
    return std::nullopt;
  // A scalar group joins only a group that is one short row, or can become one because it is reduced.
  bool oneRow = space.columns == ColumnChoices{space.count};
  if (other.count == 1 && !oneRow && !(producerIsFull && space.count <= limits.longestRow))
    return std::nullopt;
  if (!restrictColumns(space.columns, {space.count / other.count}))
    return std::nullopt;
  return space;
}

/// Whether `consumer` may use the producer's result in the same iteration of the joined space.
bool FusionRules::readFits(const Node &consumer, const Read &read, const Node &producer,
                           const Space &space) const {
  bool oneShortRow = space.columns == ColumnChoices{space.count} && space.count <= limits.longestRow;
  if (read.table || producer.space->completion == Completion::AllRows)
    return false;
  if (producer.space->completion == Completion::Total && !oneShortRow)
    return false;
  if (read.pattern.isIdentity())
    return true;
  return consumer.space->count == space.count && space.columns.size() == 1 &&
         read.pattern.isPerRow(space.count / space.columns.front(), space.columns.front());
}

/// Whether all values between the groups can stay within one kernel. Restricts `space` accordingly.
bool FusionRules::edgesFit(const Group &producer, const Group &consumer, Space &space) const {
  unsigned from = graph.node(producer.members.front()).group;
  for (unsigned member : consumer.members)
    for (auto [read, made] : llvm::zip_equal(graph.node(member).space->reads, graph.node(member).producers)) {
      if (!made || graph.node(*made).group != from)
        continue;
      if (!readFits(graph.node(member), read, graph.node(*made), space))
        return false;
      space.alongColumns |= graph.node(*made).space->completion == Completion::Total;
    }
  return true;
}

bool FusionRules::withinLimits(const Group &a, const Group &b) const {
  if (int64_t(a.members.size() + b.members.size()) > limits.ops)
    return false;
  unsigned groupA = graph.node(a.members.front()).group, groupB = graph.node(b.members.front()).group;
  auto inside = [&](unsigned id) { return graph.node(id).group == groupA || graph.node(id).group == groupB; };
  SmallVector<Value, 32> inputs; // at most `limits.buffers`, so that a search takes less time than hashes
  int64_t outputs = 0;
  for (const Group *group : {&a, &b})
    for (unsigned member : group->members) {
      for (auto [read, made] : llvm::zip_equal(graph.node(member).space->reads, graph.node(member).producers))
        if (!(made && inside(*made)) && !llvm::is_contained(inputs, read.value))
          inputs.push_back(read.value);
      outputs += !llvm::all_of(graph.node(member).users, inside);
      if (int64_t(inputs.size()) + outputs > limits.buffers)
        return false;
    }
  return true;
}

int64_t FusionRules::inputBytes(const Group &group) const {
  llvm::SmallDenseSet<Value, 16> inputs;
  int64_t bytes = 0;
  for (unsigned member : group.members)
    for (auto [read, made] : llvm::zip_equal(graph.node(member).space->reads, graph.node(member).producers))
      if (!(made && graph.node(*made).group == graph.node(member).group) && inputs.insert(read.value).second)
        bytes += tensorBytes(read.value.getType());
  return bytes;
}

int64_t FusionRules::outputBytes(const Group &group) const {
  int64_t bytes = 0;
  for (unsigned member : group.members)
    if (graph.leavesGroup(member))
      bytes += tensorBytes(graph.node(member).op->getResult(0).getType());
  return bytes;
}

/// Whether only `first` itself and `second` use the results of `first`.
bool FusionRules::feedsOnly(const Group &first, const Group &second) const {
  unsigned a = graph.node(first.members.front()).group, b = graph.node(second.members.front()).group;
  return llvm::all_of(first.members, [&](unsigned member) {
    return llvm::all_of(graph.node(member).users, [&](unsigned user) {
      return graph.node(user).group == a || graph.node(user).group == b;
    });
  });
}

/// Merging ops with other kernels in between extends lifetimes: of the later group's results if it runs early
/// (such as terms of a gradient that depend on the forward only), or of the earlier group's operands if it
/// runs late. Memory has no cost in seconds, so the additional bytes are limited to the bytes that move in
/// the time of one launch, plus a quarter of the bytes that need not pass between the two groups. In
/// addition, a scalar group, on which others depend, is not delayed by more than its own inputs.
bool FusionRules::isWorthwhile(unsigned early, unsigned late) const {
  const Group &first = graph.group(graph.node(early).group), &second = graph.group(graph.node(late).group);
  if (first.space.count == 1)
    return feedsOnly(first, second);
  if (graph.libraryCalls(early) == graph.libraryCalls(late))
    return true;
  int64_t made = outputBytes(second), passed = 0;
  for (unsigned member : second.members)
    for (const Read &read : graph.node(member).space->reads)
      passed = std::max(passed, tensorBytes(read.value.getType()));
  if (made <= std::max(passed / 4, limits.launchBytes))
    return true;
  return feedsOnly(first, second) && inputBytes(first) <= std::max(outputBytes(first), limits.launchBytes);
}
