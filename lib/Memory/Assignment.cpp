#include "lib/Memory/Assignment.h"

#include "lib/Analysis/HostOps.h"
#include "lib/Support/SourceName.h"

#include "lib/Support/StoredElement.h"

using namespace mlir;

namespace trainc {

SmallVector<std::pair<int64_t, int64_t>> mayAliasPairs(Operation *op) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  if (auto attr = op->getAttrOfType<ArrayAttr>(kMayAliasAttr))
    for (auto pair : attr.getAsRange<DenseI64ArrayAttr>())
      pairs.push_back({pair[0], pair[1]});
  return pairs;
}

Assignment::Assignment(train::EntryOp entry, StorageTable &storages)
    : storages_(storages), order_(entry.getBody().front()), timeline_(entry),
      entryName_(entry.getSymName().str()), entryKind_(entry.getKind()) {
  Block &body = entry.getBody().front();
  firstScratch_ = int(storages_.size());
  assignBlock(body);
  lastScratch_ = int(storages_.size());
  measureLifetimes(body);
}

ArrayRef<int> Assignment::scratch(Operation *op) const {
  auto found = scratch_.find(op);
  return found == scratch_.end() ? ArrayRef<int>() : ArrayRef<int>(found->second);
}

ArrayRef<Move> Assignment::movesBefore(Operation *op) const {
  auto found = before_.find(op);
  return found == before_.end() ? ArrayRef<Move>() : ArrayRef<Move>(found->second);
}

ArrayRef<Move> Assignment::movesAfter(Operation *op) const {
  auto found = after_.find(op);
  return found == after_.end() ? ArrayRef<Move>() : ArrayRef<Move>(found->second);
}

void Assignment::bind(Value value, View view) {
  views_[value] = view;
  occupants_[view.storage].push_back(value);
}

View Assignment::newScratch(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  std::string name = entryName_ + "." + std::to_string(int(storages_.size()) - firstScratch_);
  if (StringRef scope = scopeName(value.getLoc()); !scope.empty())
    name += "." + scope.str();
  return {
      storages_.add({name, bytesOf(value), storedElement(type.getElementType()), plan::Role::activation})};
}

// --- Walking the entry ---

void Assignment::assignBlock(Block &block) {
  for (Operation &op : block)
    assignOp(op);
}

void Assignment::assignOp(Operation &op) {
  if (auto get = dyn_cast<train::GetOp>(op))
    return assignGet(get);
  if (auto set = dyn_cast<train::SetOp>(op))
    return assignSet(set);
  if (auto input = dyn_cast<train::InputOp>(op))
    return bind(input.getResult(), {storages_.inputStorage(input)});
  if (isLoop(&op))
    return assignLoop(cast<nn::ChunksOp>(op));
  if (op.hasTrait<OpTrait::IsTerminator>())
    return assignYield(&op);
  if (op.getNumResults() == 1 && isZero(op.getResult(0)))
    return; // filled where it is used
  auto executable = cast<ExecutableOpInterface>(op);
  if (isAlias(&op))
    return assignAlias(executable);
  if (isPack(&op))
    return assignPack(executable);
  if (isCollective(&op))
    return assignCollective(executable);
  assignExecutable(executable);
}

/// A value that is read from a state shares the state's buffer, unless the state is overwritten while the
/// value is still needed.
void Assignment::assignGet(train::GetOp get) {
  if (storages_.isOffloaded(get.getState()))
    return isReadOnHost(get) ? bind(get.getResult(), pieceOf(get)) : fetch(get);
  View state{storages_.stateStorage(get.getState())};
  train::SetOp next = order_.writeAfter(get.getState(), get);
  if (!next || timeline_.begin(next) >= timeline_.lastUse(get.getResult()))
    return bind(get.getResult(), state);
  View copy = newScratch(get.getResult());
  bind(get.getResult(), copy);
  after_[get].push_back({state, copy, bytesOf(get.getResult())});
}

/// Arenas are zero when allocated, and init runs first. For offloaded parameters, plan verification requires
/// a store of zeros as well.
bool Assignment::isZeroAnyway(StringRef state) {
  return order_.writes(state).size() == 1 &&
         !(storages_.isOffloaded(state) &&
           storages_[storages_.stateStorage(state)].role == plan::Role::parameter);
}

void Assignment::assignSet(train::SetOp set) {
  View state{storages_.stateStorage(set.getState())};
  View value = views_.lookup(set.getValue());
  if (isZero(set.getValue()) && entryKind_ == EntryKind::init && isZeroAnyway(set.getState()))
    return;
  if (storages_.isOffloaded(set.getState())) {
    if (!isMadeOnHost(set))
      store(set);
    return;
  }
  if (isZero(set.getValue()))
    before_[set].push_back({View(), state, bytesOf(set.getValue())});
  else if (value != state)
    before_[set].push_back({value, state, bytesOf(set.getValue())});
}

/// Materialises zeros in one buffer for all readers.
void Assignment::makeZero(Operation *reader, Value zeros) {
  if (views_.count(zeros))
    return;
  const View view = newScratch(zeros);
  bind(zeros, view);
  before_[reader].push_back({View(), view, bytesOf(zeros)});
}

void Assignment::makeZeros(ExecutableOpInterface op) {
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    bool inPlace = llvm::any_of(op->getResults(), [&](OpResult r) {
      return op.getInPlaceOperand(r.getResultNumber()) == int(index);
    });
    if (isZero(operand) && !inPlace)
      makeZero(op, operand);
  }
}

void Assignment::assignExecutable(ExecutableOpInterface op) {
  makeZeros(op);
  for (OpResult result : op->getResults())
    assignResult(op, result);
  assignScratch(op);
}

void Assignment::assignScratch(Operation *op) {
  if (auto types = op->getAttrOfType<ArrayAttr>(kScratchAttr))
    for (auto type : types.getAsValueRange<TypeAttr>()) {
      std::string name =
          entryName_ + "." + std::to_string(int(storages_.size()) - firstScratch_) + ".scratch";
      scratch_[op].push_back(storages_.add(
          {name, tensorBytes(type), cast<RankedTensorType>(type).getElementType(), plan::Role::workspace}));
    }
}

void Assignment::assignResult(ExecutableOpInterface op, OpResult result) {
  View wanted = wantedView(result);
  int inPlace = op.getInPlaceOperand(result.getResultNumber());
  if (inPlace >= 0) {
    Value operand = op->getOperand(inPlace);
    View there = views_.lookup(operand);
    if (mayOverwrite(result, operand))
      return bind(result, there);
    View target = wanted.isNull() ? newScratch(result) : wanted;
    bind(result, target);
    if (there != target || isZero(operand))
      before_[op].push_back({isZero(operand) ? View() : there, target, bytesOf(result)});
    return;
  }
  if (!wanted.isNull())
    return bind(result, wanted);
  for (auto [operandIndex, resultIndex] : mayAliasPairs(op)) {
    Value operand = op->getOperand(operandIndex);
    if (isStored(result) && !isFetched(operand))
      continue; // a copy to another space needs a storage of its own
    if (resultIndex == result.getResultNumber() && bytesOf(operand) == bytesOf(result) &&
        mayOverwrite(result, operand) && !storages_[views_.lookup(operand).storage].persistent)
      return bind(result, views_.lookup(operand));
  }
  bind(result, newScratch(result));
}

bool Assignment::isFree(View view, OpResult made) {
  Operation *op = made.getOwner();
  // Positions ascend, so that values dead before this op are dead for all later ops.
  SmallVector<Value, 2> &occupants = occupants_[view.storage];
  llvm::erase_if(occupants, [&](Value other) { return timeline_.lastUse(other) < timeline_.begin(op); });
  for (Value other : occupants)
    if (covers(view, made, other) && (other.getDefiningOp() == op || isReadLater(view, made, other) ||
                                      timeline_.isStoredBeside(op, other)))
      return false;
  return llvm::all_of(op->getOpOperands(),
                      [&](OpOperand &operand) { return mayBeMadeOver(made, operand, view); });
}

/// If all own readers of a tensor are done, its views with other readers count.
bool Assignment::isReadLater(View view, OpResult made, Value other) {
  Operation *op = made.getOwner();
  if (!covers(view, made, other) || timeline_.lastUse(other, op) <= timeline_.end(op))
    return false;
  const auto isDone = [&](Operation *user) {
    return timeline_.end(user) <= timeline_.end(op) && !isPack(user) && !isCollective(user) &&
           (!isAlias(user) || views_.count(user->getResult(0)));
  };
  if (!llvm::all_of(other.getUsers(), isDone))
    return true;
  return llvm::any_of(other.getUsers(), [&](Operation *user) {
    return isAlias(user) && isReadLater(view, made, user->getResult(0));
  });
}

bool Assignment::mayOverwrite(OpResult made, Value operand) {
  const View view = views_.lookup(operand);
  if (isZero(operand) || view.step != 0 || !isFree(view, made))
    return false;
  if (carried_.contains(operand))
    return true;
  if (auto get = operand.getDefiningOp<train::GetOp>();
      get && view == View{storages_.stateStorage(get.getState())})
    return canMakeInState(made, get.getState(), view);
  // A block argument is a slice of, or all of, a tensor that the loop only reads.
  return operand.getDefiningOp() && !storages_[view.storage].persistent;
}

// --- Lifetimes ---

void Assignment::touch(View view, int64_t first, int64_t last) {
  if (view.isNull() || storages_[view.storage].persistent)
    return;
  Storage &storage = storages_[view.storage];
  storage.first = std::min(storage.first, first);
  storage.last = std::max(storage.last, last);
}

void Assignment::measureLifetimes(Block &block) {
  for (Operation &op : block) {
    int64_t first = timeline_.begin(&op), last = timeline_.end(&op);
    for (Value operand : op.getOperands())
      touch(views_.lookup(operand), first, last);
    for (Value result : op.getResults())
      touch(views_.lookup(result), first, last);
    if (isWait(&op)) { // until its wait, a collective reads its operand and uses its workspace
      Operation *start = op.getOperand(0).getDefiningOp();
      touch(views_.lookup(start->getOperand(0)), first, last);
      for (int storage : scratch(start))
        touch({storage}, first, last);
    }
    for (int storage : scratch(&op))
      touch({storage}, first, last);
    for (ArrayRef<Move> moves : {movesBefore(&op), movesAfter(&op)})
      for (const Move &move : moves) {
        touch(move.from, first, last);
        touch(move.to, first, last);
      }
    if (isLoop(&op))
      measureLifetimes(op.getRegion(0).front());
  }
}

} // namespace trainc
