#include "lib/Schedule/Messages.h"

#include "lib/Analysis/StateOrder.h"

using namespace mlir;

namespace trainc {

Operation *earlier(Operation *a, Operation *b) { return !a || (b && b->isBeforeInBlock(a)) ? b : a; }

Operation *later(Operation *a, Operation *b) { return !a || (b && a->isBeforeInBlock(b)) ? b : a; }

SmallVector<Message> messagesOf(Block &block) {
  SmallVector<Message> messages;
  llvm::DenseMap<int64_t, size_t> numbered;
  for (auto start : block.getOps<CollectiveOpInterface>()) {
    IntegerAttr number = start.getMessageAttr();
    if (auto known = number ? numbered.find(number.getInt()) : numbered.end(); known != numbered.end()) {
      messages[known->second].push_back(start);
      continue;
    }
    if (number)
      numbered[number.getInt()] = messages.size();
    messages.push_back({start});
  }
  return messages;
}

/// Returns the first user of `value`, looking through users that only pass it on.
static Operation *firstUser(Value value, bool (*passesOn)(Operation *)) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    first = earlier(first, passesOn(user) ? firstUser(user->getResult(0), passesOn) : user);
  return first;
}

Operation *firstRead(Value value) { return firstUser(value, isView); }

Operation *lastRead(Value value) {
  Operation *last = nullptr;
  for (Operation *user : value.getUsers())
    last = later(last, isView(user) ? lastRead(user->getResult(0)) : user);
  return last;
}

int64_t elementsOf(CollectiveOpInterface start) {
  return std::max(cast<RankedTensorType>(start->getOperand(0).getType()).getNumElements(),
                  cast<RankedTensorType>(start->getResult(0).getType()).getNumElements());
}

static train::StateOp stateOf(Operation *op, FlatSymbolRefAttr name) {
  return SymbolTable::lookupNearestSymbolFrom<train::StateOp>(op, name);
}

train::StateOp movedState(CollectiveOpInterface start) {
  if (FlatSymbolRefAttr summed = start.getOfAttr())
    return stateOf(start, summed);
  if (train::StateOp read = gatheredState(start))
    return read;
  for (Operation *user : waitOf(start)->getUsers())
    if (auto set = dyn_cast<train::SetOp>(user); set && isGather(start))
      return stateOf(set, set.getStateAttr());
  return {};
}

/// Whether the op takes no time on the compute stream: it is a view, a collective, or a cast for a gather.
static bool moves(Operation *op) {
  return isView(op) || isa<CollectiveOpInterface>(op) || isCastToGather(op);
}

Operation *known(Value value) {
  Operation *definition = value.getDefiningOp();
  if (auto get = dyn_cast_or_null<train::GetOp>(definition))
    return writeSeenBy(get);
  if (!definition || !moves(definition))
    return definition;
  Operation *last = nullptr;
  for (Value operand : definition->getOperands())
    last = later(last, known(operand));
  return last;
}

bool computes(Operation *op) { return !moves(op) && !isa<train::GetOp>(op); }

static void addSourceStarts(Value value, llvm::SetVector<Operation *> &starts) {
  Operation *definition = value.getDefiningOp();
  if (!definition || !moves(definition))
    return;
  if (isa<CollectiveOpInterface>(definition))
    starts.insert(definition);
  for (Value operand : definition->getOperands())
    addSourceStarts(operand, starts);
}

llvm::SetVector<Operation *> sourceStarts(Value value) {
  llvm::SetVector<Operation *> starts;
  addSourceStarts(value, starts);
  return starts;
}

Operation *need(Value value) { return firstUser(value, moves); }

// --- Stores ---

namespace {

/// An op (or null), and the writes of its results, or of a collective's result.
struct Store {
  Operation *op = nullptr;
  SmallVector<train::SetOp> writes;
};

/// Whether collectives give the value, except gathers of parameters for reading.
bool isBrought(Value value) {
  return llvm::any_of(sourceStarts(value),
                      [](Operation *start) { return !gatheredState(cast<CollectiveOpInterface>(start)); });
}

/// Returns the writes of the values; fails if they have other users.
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
  return !isMemoryEffectFree(op) &&
         llvm::any_of(writes, [&](train::SetOp write) { return write != op && conflict(op, write); });
}

/// Returns the position after the op and all its writes. Asking the block for their order would renumber its
/// ops after each move.
Block::iterator endOf(const Store &store) {
  Operation *first = store.op ? store.op : train::SetOp(store.writes.front());
  auto next = std::next(first->getIterator());
  for (size_t left = store.writes.size() - (store.op ? 0 : 1); left > 0; ++next)
    left -= llvm::is_contained(store.writes, dyn_cast<train::SetOp>(*next)) ? 1 : 0;
  return next;
}

/// Moves the store before `place`.
void move(const Store &store, Block &block, Block::iterator place) {
  if (store.op)
    store.op->moveBefore(&block, place);
  for (train::SetOp write : store.writes)
    write->moveBefore(&block, store.op ? std::next(store.op->getIterator()) : place);
}

} // namespace

void sinkStores(Block &block) {
  const auto next = nextAccesses(block);
  for (const Store &store : storesOf(block)) {
    llvm::SmallPtrSet<Operation *, 4> barriers;
    for (train::SetOp write : store.writes)
      if (Operation *access = next.lookup(write))
        barriers.insert(access);
    auto place = barriers.empty() ? block.end() : endOf(store);
    while (place != block.end() && !barriers.contains(&*place))
      ++place;
    move(store, block, place);
  }
}

void raiseStores(Block &block) {
  for (const Store &store : storesOf(block)) {
    if (!store.op)
      continue;
    auto place = store.op->getIterator();
    llvm::SmallPtrSet<Operation *, 8> read;
    for (Value operand : store.op->getOperands())
      read.insert(operand.getDefiningOp());
    auto mustStayBefore = [&](Operation &op) { return read.contains(&op) || accesses(&op, store.writes); };
    while (place != block.begin() && !mustStayBefore(*std::prev(place)))
      --place;
    move(store, block, place);
  }
}

} // namespace trainc
