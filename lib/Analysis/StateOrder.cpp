#include "lib/Analysis/StateOrder.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <cassert>
#include <functional>
#include <queue>

using namespace mlir;

namespace trainc {

size_t NumberedWrites::afterLast(size_t end, train::GetOp get) const {
  const auto found = writes_.find(get.getStateAttr());
  if (found != writes_.end())
    for (auto [number, set] : llvm::reverse(found->second))
      if (number < end && meet(set, get))
        return number + 1;
  return 0;
}

bool meet(train::SetOp set, train::GetOp get) {
  if (set.getStateAttr() != get.getStateAttr())
    return false;
  const auto size = [](Value piece) { return cast<RankedTensorType>(piece.getType()).getNumElements(); };
  const auto setBegin = int64_t(set.getOffset()), getBegin = int64_t(get.getOffset());
  return setBegin < getBegin + size(get.getResult()) && getBegin < setBegin + size(set.getValue());
}

// --- Effects ---

namespace {
/// Effect of an op on one state, or on another resource as a whole.
struct Effect {
  SideEffects::Resource *resource;
  Attribute state; ///< null for the whole resource
  bool writes;

  bool meets(const Effect &other) const {
    return resource == other.resource && (!state || !other.state || state == other.state);
  }
};
} // namespace

/// Returns the effects that SSA does not order.
static SmallVector<Effect, 1> effectsOf(Operation *op) {
  SmallVector<Effect, 1> found;
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects)
    if (!effect.getValue())
      found.push_back(
          {effect.getResource(), effect.getSymbolRef(), !isa<MemoryEffects::Read>(effect.getEffect())});
  return found;
}

bool conflict(Operation *a, Operation *b) {
  return llvm::any_of(effectsOf(a), [&](const Effect &first) {
    return llvm::any_of(effectsOf(b), [&](const Effect &second) {
      return first.meets(second) && (first.writes || second.writes);
    });
  });
}

DenseMap<Operation *, Operation *> nextAccesses(Block &block) {
  using Access = std::pair<size_t, Operation *>; // higher numbers are nearer
  DenseMap<std::pair<SideEffects::Resource *, Attribute>, Access> nearest;
  DenseMap<Operation *, Operation *> next;
  for (auto [number, op] : llvm::enumerate(llvm::reverse(block)))
    for (const Effect &effect : effectsOf(&op)) {
      if (isa<train::SetOp>(op))
        next[&op] = std::max(nearest.lookup({effect.resource, effect.state}),
                             nearest.lookup({effect.resource, Attribute()}))
                        .second;
      nearest[{effect.resource, effect.state}] = {number + 1, &op};
    }
  return next;
}

// --- Values ---

train::SetOp writeSeenBy(train::GetOp get) {
  for (Operation *op = get->getPrevNode(); op; op = op->getPrevNode())
    if (auto set = dyn_cast<train::SetOp>(op); set && set.getStateAttr() == get.getStateAttr())
      return set;
  return {};
}

bool aliasesState(Value value, StringRef state) {
  Operation *definition = value.getDefiningOp();
  if (auto get = dyn_cast_or_null<train::GetOp>(definition))
    return get.getState() == state;
  return definition && isView(definition) &&
         llvm::any_of(definition->getOperands(), [&](Value operand) { return aliasesState(operand, state); });
}

/// Collects the ops that use the value of a read, or an alias of it.
static void collectUsers(Operation *read, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : read->getUsers()) {
    users.push_back(user);
    if (isView(user) || isReadThrough(user))
      collectUsers(user, users);
  }
}

// --- Order ---

StateOrder::StateOrder(Block &block) {
  for (Operation &op : block) {
    if (auto get = dyn_cast<train::GetOp>(op))
      gets[get.getState()].push_back(get);
    if (auto set = dyn_cast<train::SetOp>(op))
      sets[set.getState()].push_back(set);
  }
}

ArrayRef<train::GetOp> StateOrder::reads(StringRef state) const & {
  auto found = gets.find(state);
  return found == gets.end() ? ArrayRef<train::GetOp>() : ArrayRef<train::GetOp>(found->second);
}

ArrayRef<train::SetOp> StateOrder::writes(StringRef state) const & {
  auto found = sets.find(state);
  return found == sets.end() ? ArrayRef<train::SetOp>() : ArrayRef<train::SetOp>(found->second);
}

train::SetOp StateOrder::writeAfter(StringRef state, Operation *op) const {
  ArrayRef<train::SetOp> all = writes(state);
  const auto *found = llvm::find_if(all, [&](train::SetOp set) { return op->isBeforeInBlock(set); });
  return found == all.end() ? train::SetOp() : *found;
}

namespace {
/// Accesses of a state since its last write.
struct Accesses {
  Effect of;
  Operation *lastWrite = nullptr;
  SmallVector<Operation *> reads;
};
} // namespace

/// Orders `write` after the reads so far and after all earlier users of their values.
static void addUsersBefore(Operation *write, ArrayRef<Operation *> reads, SmallVectorImpl<OpPair> &pairs) {
  for (Operation *read : reads) {
    SmallVector<Operation *> users{read};
    collectUsers(read, users);
    for (Operation *user : users)
      if (user != write && user->isBeforeInBlock(write))
        pairs.push_back({user, write});
  }
}

namespace {
/// Accesses of all states so far. An effect on one state is compared with those on the same state and on the
/// whole resource only, so that the time does not grow with the number of states.
class AccessTable {
public:
  void add(Operation *op, const Effect &effect, SmallVectorImpl<OpPair> &pairs) {
    states[{effect.resource, effect.state}].of = effect;
    if (!effect.state)
      for (auto &[key, accesses] : states)
        meet(op, effect, accesses, pairs);
    else
      for (Attribute state : {Attribute(), effect.state})
        if (auto *found = states.find({effect.resource, state}); found != states.end())
          meet(op, effect, found->second, pairs);
    if (!effect.writes)
      states[{effect.resource, effect.state}].reads.push_back(op);
  }

private:
  static void meet(Operation *op, const Effect &effect, Accesses &accesses, SmallVectorImpl<OpPair> &pairs) {
    if (!effect.meets(accesses.of))
      return;
    if (accesses.lastWrite && accesses.lastWrite != op)
      pairs.push_back({accesses.lastWrite, op});
    if (!effect.writes)
      return;
    addUsersBefore(op, accesses.reads, pairs);
    accesses.lastWrite = op;
    accesses.reads.clear();
  }

  llvm::MapVector<std::pair<SideEffects::Resource *, Attribute>, Accesses> states;
};
} // namespace

SmallVector<OpPair> fixedPairs(Block &block) {
  SmallVector<OpPair> pairs;
  AccessTable accesses;
  for (Operation &op : block)
    for (const Effect &effect : effectsOf(&op))
      accesses.add(&op, effect, pairs);
  return pairs;
}

/// Returns the number of writes of its state before each read and write of the block.
static llvm::MapVector<Operation *, int64_t> writesBefore(Block &block) {
  llvm::MapVector<Operation *, int64_t> found;
  DenseMap<Attribute, int64_t> writes; // by state
  for (Operation &op : block) {
    if (auto get = dyn_cast<train::GetOp>(op))
      found[get] = writes.lookup(get.getStateAttr());
    if (auto set = dyn_cast<train::SetOp>(op))
      found[set] = writes[set.getStateAttr()]++;
  }
  return found;
}

WritesBefore::WritesBefore(Block &block) : block_(block), numbers_(writesBefore(block)) {}

LogicalResult WritesBefore::requireKept() const {
  const auto now = writesBefore(block_);
  for (auto [op, writes] : numbers_)
    if (now.lookup(op) != writes)
      return op->emitOpError("follows ") << now.lookup(op) << " writes of its state; expected " << writes
                                         << " as before (a fault of trainc)";
  return success();
}

void sortBlock(Block &block, ArrayRef<OpPair> fixed) {
  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> index;
  for (Operation &op : block) {
    index[&op] = ops.size();
    ops.push_back(&op);
  }
  SmallVector<SmallVector<unsigned, 2>> after(ops.size());
  SmallVector<unsigned> waiting(ops.size(), 0);
  auto addEdge = [&](unsigned from, unsigned to) {
    after[from].push_back(to);
    ++waiting[to];
  };
  for (auto [to, op] : llvm::enumerate(ops))
    for (Value operand : op->getOperands())
      if (auto found = index.find(operand.getDefiningOp()); operand.getDefiningOp() && found != index.end())
        addEdge(found->second, to);
  for (auto [from, to] : fixed)
    addEdge(index.lookup(from), index.lookup(to));
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned i = 0; i < ops.size(); ++i)
    if (waiting[i] == 0 && !ops[i]->hasTrait<OpTrait::IsTerminator>())
      ready.push(i);
  Operation *end = block.mightHaveTerminator() ? block.getTerminator() : nullptr;
  [[maybe_unused]] size_t placed = 0;
  for (; !ready.empty(); ++placed) {
    unsigned next = ready.top();
    ready.pop();
    end ? ops[next]->moveBefore(end) : ops[next]->moveBefore(&block, block.end());
    for (unsigned to : after[next])
      if (--waiting[to] == 0 && !ops[to]->hasTrait<OpTrait::IsTerminator>())
        ready.push(to);
  }
  assert(placed + (end ? 1 : 0) == ops.size() && "the present order is cyclic");
}

} // namespace trainc
