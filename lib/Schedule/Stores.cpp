#include "lib/Schedule/Stores.h"

#include "lib/Analysis/StateOrder.h"
#include "lib/Schedule/Messages.h"

using namespace mlir;

namespace trainc {

namespace {

/// An op that computes or null, and the writes of its results, or of what a collective brings.
struct Store {
  Operation *op = nullptr;
  SmallVector<train::SetOp> writes;
};

/// Whether collectives bring the value, but for parameters that are gathered to be read.
bool isBrought(Value value) {
  return llvm::any_of(startsBehind(value),
                      [](Operation *start) { return !gatheredState(cast<CollectiveOpInterface>(start)); });
}

/// The writes of a value that nothing else uses.
FailureOr<SmallVector<train::SetOp>> onlyWrites(ValueRange values) {
  SmallVector<train::SetOp> writes;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      auto set = dyn_cast<train::SetOp>(user);
      if (!set)
        return failure();
      writes.push_back(set);
    }
  return writes;
}

SmallVector<Store> storesOf(Block &block) {
  SmallVector<Store> stores;
  for (Operation &op : block) {
    if (auto set = dyn_cast<train::SetOp>(op); set && isBrought(set.getValue()))
      stores.push_back({nullptr, {set}});
    if (!computes(&op) || op.getNumResults() == 0 || llvm::none_of(op.getOperands(), isBrought))
      continue;
    if (auto writes = onlyWrites(op.getResults()); succeeded(writes) && !writes->empty())
      stores.push_back({&op, *writes});
  }
  return stores;
}

bool accesses(Operation *op, ArrayRef<train::SetOp> writes) {
  return llvm::any_of(writes, [&](train::SetOp write) { return write != op && conflict(op, write); });
}

/// Puts the store in front of `place`.
void move(const Store &store, Block &block, Block::iterator place) {
  if (store.op)
    store.op->moveBefore(&block, place);
  for (train::SetOp write : store.writes)
    write->moveBefore(&block, store.op ? std::next(store.op->getIterator()) : place);
}

} // namespace

void sinkStores(Block &block) {
  for (const Store &store : storesOf(block)) {
    Operation *last = store.op;
    for (train::SetOp write : store.writes)
      last = later(last, write);
    auto next = std::next(last->getIterator());
    while (next != block.end() && !accesses(&*next, store.writes))
      ++next;
    move(store, block, next);
  }
}

void raiseStores(Block &block) {
  for (const Store &store : storesOf(block)) {
    if (!store.op)
      continue;
    auto place = store.op->getIterator();
    auto mustStayBefore = [&](Operation &op) {
      return accesses(&op, store.writes) || llvm::is_contained(op.getUsers(), store.op);
    };
    while (place != block.begin() && !mustStayBefore(*std::prev(place)))
      --place;
    move(store, block, place);
  }
}

} // namespace trainc
