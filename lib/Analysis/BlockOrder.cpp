#include "lib/Analysis/BlockOrder.h"

#include "dialects/NN/NN.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <cassert>
#include <functional>
#include <queue>

using namespace mlir;
using namespace trainc;

using OpPair = std::pair<Operation *, Operation *>;

namespace {
/// The accesses of one state since its last write.
struct StateAccesses {
  Operation *lastWrite = nullptr;
  SmallVector<Operation *> reads;
};
} // namespace

/// The symbol that an op with effects names first; null if it names none.
static Attribute stateOf(Operation *op) {
  for (NamedAttribute attribute : op->getAttrs())
    if (isa<FlatSymbolRefAttr>(attribute.getValue()))
      return attribute.getValue();
  return {};
}

/// Ops that use the value a read gave, or an alias of it.
static void collectUsers(Operation *read, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : read->getUsers()) {
    users.push_back(user);
    if (isa<nn::BroadcastOp, nn::ReshapeOp>(user) || isPlacement(user))
      collectUsers(user, users);
  }
}

SmallVector<OpPair> trainc::stateOrder(Block &block) {
  SmallVector<OpPair> pairs;
  DenseMap<Attribute, StateAccesses> states;
  DenseMap<Operation *, int64_t> positions;
  for (auto [position, op] : llvm::enumerate(block))
    positions[&op] = position;
  for (Operation &op : block) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(&op);
    if (!effects || effects.hasNoEffect())
      continue;
    StateAccesses &state = states[stateOf(&op)];
    if (state.lastWrite)
      pairs.push_back({state.lastWrite, &op});
    if (effects.onlyHasEffect<MemoryEffects::Read>()) {
      state.reads.push_back(&op);
      continue;
    }
    for (Operation *read : state.reads) {
      SmallVector<Operation *> users{read};
      collectUsers(read, users);
      for (Operation *user : users)
        if (user != &op && positions.lookup(user) < positions.lookup(&op))
          pairs.push_back({user, &op});
    }
    state = {&op, {}};
  }
  return pairs;
}

void trainc::sortBlock(Block &block, ArrayRef<OpPair> fixed) {
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
