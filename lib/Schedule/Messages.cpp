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

/// The first user of `value`, or of what users that only pass it on make of it.
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

/// Whether the op has no time of its own: it names a place, or a collective makes its value.
static bool moves(Operation *op) { return isView(op) || isa<CollectiveOpInterface>(op); }

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

static void addStartsBehind(Value value, llvm::SetVector<Operation *> &starts) {
  Operation *definition = value.getDefiningOp();
  if (!definition || !moves(definition))
    return;
  if (isa<CollectiveOpInterface>(definition))
    starts.insert(definition);
  for (Value operand : definition->getOperands())
    addStartsBehind(operand, starts);
}

llvm::SetVector<Operation *> startsBehind(Value value) {
  llvm::SetVector<Operation *> starts;
  addStartsBehind(value, starts);
  return starts;
}

Operation *need(Value value) { return firstUser(value, moves); }

} // namespace trainc
