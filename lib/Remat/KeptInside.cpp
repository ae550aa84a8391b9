#include "lib/Remat/KeptInside.h"

#include "lib/Support/StoredElement.h"

using namespace mlir;

namespace trainc {

/// Whether the backward reads a result of `op`, directly or through views.
static bool isReadByBackward(Operation *op, const ForwardSide &forward) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return !forward.contains(user) || (isRecomputableView(user) && isReadByBackward(user, forward));
  });
}

/// Returns the seconds of an op that has no kernel of its own: the time to write and read its result, or 0 if
/// the result is not in memory.
static double fusedSeconds(Operation *op, int64_t bytes, const codegen::OpCosts &costs) {
  const bool isStored = llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<ExecutableOpInterface>(user) || !isa<RecomputableOpInterface>(user);
  });
  return isStored ? 2 * double(bytes) / costs.machine().bytesPerSecond : 0;
}

FailureOr<KeptInside> KeptInside::price(const BlockUse &use, const BlockUses &uses,
                                        const ForwardSide &forward, codegen::OpCosts &costs) {
  KeptInside inside;
  llvm::DenseMap<Operation *, size_t> numbers;
  for (Operation *op : use.ops) {
    Node node{op, {}};
    for (Value operand : op->getOperands())
      if (auto found = numbers.find(operand.getDefiningOp());
          found != numbers.end() && !uses.isReadOutsideUse(operand))
        node.operands.push_back(found->second);
    const bool isMade = isRecomputableView(op) || forward.needsNoSaving(op->getResult(0));
    if (!isMade)
      for (Value result : op->getResults())
        node.bytes += uses.isReadOutsideUse(result) ? 0 : tensorBytes(result.getType());
    node.isRead = node.bytes > 0 && isReadByBackward(op, forward);
    FailureOr<double> seconds = costs.seconds(*op);
    if (failed(seconds))
      return failure();
    node.seconds = *seconds > 0 ? *seconds : fusedSeconds(op, node.bytes, costs);
    numbers[op] = inside.nodes_.size();
    inside.nodes_.push_back(std::move(node));
  }
  return inside;
}

/// Returns the seconds of recomputation if the results of the nodes `kept` are kept.
double KeptInside::secondsWith(const llvm::BitVector &kept) const {
  llvm::BitVector needed(nodes_.size());
  double seconds = 0;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (kept[i] || !(needed[i] || nodes_[i].isRead))
      continue;
    seconds += nodes_[i].seconds;
    for (size_t operand : nodes_[i].operands)
      needed.set(operand);
  }
  return seconds;
}

/// Returns the node of at most `bytes` bytes that saves the most seconds per byte if it is kept in addition
/// to `kept`; none if no node saves time.
std::optional<size_t> KeptInside::best(const llvm::BitVector &kept, int64_t bytes) const {
  std::optional<size_t> best;
  double maximum = 0;
  const double now = secondsWith(kept);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (kept[i] || nodes_[i].bytes == 0 || nodes_[i].bytes > bytes)
      continue;
    llvm::BitVector with = kept;
    with.set(i);
    const double saved = (now - secondsWith(with)) / double(nodes_[i].bytes);
    if (saved > maximum) {
      maximum = saved;
      best = i;
    }
  }
  return best;
}

SmallVector<Value> KeptInside::choose(int64_t percent) const {
  int64_t bytes = 0;
  for (const Node &node : nodes_)
    bytes += node.isRead ? node.bytes : 0;
  bytes = bytes * percent / 100;
  llvm::BitVector kept(nodes_.size());
  SmallVector<Value> values;
  while (std::optional<size_t> found = best(kept, bytes)) {
    kept.set(*found);
    bytes -= nodes_[*found].bytes;
    llvm::append_range(values, nodes_[*found].op->getResults());
  }
  return values;
}

} // namespace trainc
