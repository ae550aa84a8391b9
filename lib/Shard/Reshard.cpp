// Pass `reshard`.
#include "lib/Shard/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Train/Sharding.h"
#include "lib/Analysis/Overlap.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Support/UseOrder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_RESHARD
#include "lib/Shard/Passes.h.inc"

namespace {

/// A read of gathered parameters: the op, the unit of the parameters, and the gathered value.
struct Read {
  Operation *op;
  Attribute unit;
  Value parameters;
};

/// Gathers parameters of one entry again for reads that are separated by reads of other units.
class Resharder {
public:
  Resharder(train::EntryOp entry, int64_t maxReuseDistance)
      : block(entry.getBody().front()), maxReuseDistance(maxReuseDistance), order(block) {}

  void run() {
    SmallVector<std::pair<CollectiveOpInterface, train::StateOp>> gathers;
    for (auto start : block.getOps<CollectiveOpInterface>())
      if (train::StateOp state = gatheredState(start))
        gathers.push_back({start, state});
    for (auto [start, state] : gathers)
      for (Operation *op : readsOf(waitOf(start)))
        reads.push_back({op, state.getBlocksAttr(), start->getResult(0)});
    llvm::sort(reads, [](const Read &a, const Read &b) { return isBefore(a.op, b.op); });
    for (auto [start, state] : gathers)
      split(start, state);
  }

private:
  /// Returns the ops that read the gathered tensor or its members, in order.
  static SmallVector<Operation *> readsOf(Operation *wait) {
    SmallVector<Operation *> found;
    for (Operation *user : wait->getUsers()) {
      if (isa<dist::MemberOp>(user))
        llvm::append_range(found, user->getUsers());
      else
        found.push_back(user);
    }
    llvm::sort(found, isBefore);
    return found;
  }

  /// Whether parameters of other units are read in between, with more elements than the maximum reuse
  /// distance.
  bool isParted(Operation *before, Operation *after, Attribute unit) const {
    const auto *read = llvm::partition_point(
        reads, [&](const Read &r) { return r.op == before || r.op->isBeforeInBlock(before); });
    llvm::SmallDenseSet<Value> between;
    int64_t distance = 0;
    for (; read != reads.end() && read->op->isBeforeInBlock(after); ++read)
      if (read->unit != unit && between.insert(read->parameters).second)
        distance += cast<RankedTensorType>(read->parameters.getType()).getNumElements();
    return !between.empty() && distance >= maxReuseDistance;
  }

  void split(CollectiveOpInterface start, train::StateOp state) {
    Operation *wait = waitOf(start);
    const Attribute unit = state.getBlocksAttr();
    // After a write the state has another value, so that later readers of the old value cannot gather it
    // again.
    train::SetOp write = order.writeAfter(state.getSymName(), start);
    SmallVector<Operation *> own = readsOf(wait);
    Operation *previous = nullptr;
    IRMapping regathered; // mapping for the current run of reads; empty for the first run
    for (Operation *op : own) {
      const bool isOverwritten = write && write->isBeforeInBlock(op);
      if (previous && !isOverwritten && isParted(previous, op, unit))
        regathered = regather(start, wait, op);
      for (OpOperand &operand : op->getOpOperands())
        if (Value other = regathered.lookupOrNull(operand.get()))
          operand.set(other);
      previous = op;
    }
  }

  /// Clones the gather and its members before `op`.
  static IRMapping regather(Operation *start, Operation *wait, Operation *op) {
    OpBuilder builder(op);
    IRMapping mapping;
    builder.clone(*start, mapping);
    builder.clone(*wait, mapping);
    for (OpOperand *use : usesFromLast(wait->getResult(0)))
      if (isa<dist::MemberOp>(use->getOwner()))
        builder.clone(*use->getOwner(), mapping);
    return mapping;
  }

  Block &block;
  int64_t maxReuseDistance;
  StateOrder order;
  SmallVector<Read> reads;
};

struct Reshard : impl::ReshardBase<Reshard> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const train::ShardingSettings settings = train::shardingOf(program);
      if (settings.reshardAfterForward)
        for (auto entry : getOperation().getOps<train::EntryOp>())
          Resharder(entry, settings.maxReuseDistance).run();
    }
    getOperation()->walk([](dist::MemberOp member) {
      if (member->use_empty())
        member->erase();
    });
  }
};

} // namespace
} // namespace trainc
