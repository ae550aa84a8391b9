#include "lib/Memory/Occupancy.h"

#include "lib/Analysis/KernelAttributes.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"

using namespace mlir;

namespace trainc {

SmallVector<std::pair<int64_t, int64_t>> mayAliasPairs(Operation *op) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  if (auto attr = op->getAttrOfType<ArrayAttr>(kMayAliasAttr))
    for (auto pair : attr.getAsRange<DenseI64ArrayAttr>())
      pairs.push_back({pair[0], pair[1]});
  return pairs;
}

void Occupancy::bind(Value value, View view) {
  assignment_.setView(value, view);
  occupants_[view.storage].push_back(value);
}

void Occupancy::bindCarried(BlockArgument argument, View view) {
  assignment_.setView(argument, view);
  carried_.insert(argument);
}

void Occupancy::makeZero(Operation *reader, Value zeros) {
  if (!assignment_.view(zeros).isNull())
    return;
  const View view = assignment_.newScratch(zeros);
  bind(zeros, view);
  assignment_.moveBefore(reader, {View(), view, paddedBytes(zeros)});
}

void Occupancy::makeZeros(ExecutableOpInterface op) {
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    bool inPlace = llvm::any_of(op->getResults(), [&](OpResult r) {
      return op.getInPlaceOperand(r.getResultNumber()) == int(index);
    });
    if (isZero(operand) && !inPlace)
      makeZero(op, operand);
  }
}

Occupancy::Occupants Occupancy::enterBody(nn::ChunksOp loop) {
  Occupants outside = occupants_;
  for (OpResult result : loop->getResults())
    llvm::erase_if(occupants_[assignment_.view(result).storage],
                   [&](Value other) { return covers(assignment_.view(result), result, other); });
  for (BlockArgument argument : loop.getBody().getArguments())
    if (carried_.contains(argument))
      occupants_[assignment_.view(argument).storage].push_back(argument);
  return outside;
}

bool Occupancy::covers(View view, Value viewed, Value other) const {
  return overlap(view, paddedBytes(viewed), assignment_.view(other), paddedBytes(other));
}

bool Occupancy::isFree(View view, OpResult made) {
  const Timeline &timeline = assignment_.timeline();
  Operation *op = made.getOwner();
  // Positions ascend, so that values dead before this op are dead for all later ops.
  SmallVector<Value, 2> &occupants = occupants_[view.storage];
  llvm::erase_if(occupants, [&](Value other) { return timeline.lastUse(other) < timeline.begin(op); });
  for (Value other : occupants)
    if (covers(view, made, other) &&
        (other.getDefiningOp() == op || isReadLater(view, made, other) || timeline.isStoredBeside(op, other)))
      return false;
  return llvm::all_of(op->getOpOperands(),
                      [&](OpOperand &operand) { return mayBeMadeOver(made, operand, view); });
}

/// Whether `other` overlaps with `made` at `view` and is read after the op of `made`. If all own readers of a
/// tensor are done, its views with other readers count.
bool Occupancy::isReadLater(View view, OpResult made, Value other) const {
  const Timeline &timeline = assignment_.timeline();
  Operation *op = made.getOwner();
  if (!covers(view, made, other) || timeline.lastUse(other, op) <= timeline.end(op))
    return false;
  const auto isDone = [&](Operation *user) {
    return timeline.end(user) <= timeline.end(op) && !isPack(user) && !isCollective(user) &&
           (!isAlias(user) || !assignment_.view(user->getResult(0)).isNull());
  };
  if (!llvm::all_of(other.getUsers(), isDone))
    return true;
  return llvm::any_of(other.getUsers(), [&](Operation *user) {
    return isAlias(user) && isReadLater(view, made, user->getResult(0));
  });
}

/// Whether the op that computes `made` at `target` may read `operand` meanwhile.
bool Occupancy::mayBeMadeOver(OpResult made, OpOperand &operand, View target) const {
  if (!covers(target, made, operand.get()))
    return true;
  const View view = assignment_.view(operand.get());
  auto definition = cast<ExecutableOpInterface>(made.getOwner());
  if (isGather(definition))
    return view == target.movedBy(partOf(cast<CollectiveOpInterface>(*definition)));
  const std::pair<int64_t, int64_t> pair(operand.getOperandNumber(), made.getResultNumber());
  const bool inPlace = definition.getInPlaceOperand(made.getResultNumber()) == int(pair.first) ||
                       llvm::is_contained(mayAliasPairs(definition), pair);
  return inPlace && view == target;
}

bool Occupancy::mayOverwrite(OpResult made, Value operand) {
  const View view = assignment_.view(operand);
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

/// The state's earlier values must not be needed from the value's definition on (the defining op may read one
/// that it can compute in place), and nothing else may be stored there while the value is needed.
bool Occupancy::canMakeInState(OpResult made, StringRef state, View target, train::SetOp stores) {
  const Timeline &timeline = assignment_.timeline();
  const StateOrder &order = assignment_.stateOrder();
  const int64_t end = timeline.end(made.getOwner());
  train::SetOp next = order.writeAfter(state, made.getOwner());
  if (!next || (stores && next != stores))
    return false;
  const int64_t stored = timeline.begin(next);
  for (train::GetOp get : order.reads(state)) {
    const int64_t read = timeline.begin(get);
    if (read < stored && (read > end || isReadLater(target, made, get.getResult())))
      return false;
  }
  const int64_t last = std::max(timeline.lastUse(made), stored);
  if (!stores && next.getValue() != made)
    return last == stored;
  next = order.writeAfter(state, next);
  return !next ||
         std::max(last, timeline.lastUse(stores ? Value(stores.getValue()) : made)) < timeline.begin(next);
}

bool Occupancy::diesLast(Value value, int storage) const {
  const Timeline &timeline = assignment_.timeline();
  const auto occupants = occupants_.find(storage);
  return occupants == occupants_.end() || llvm::all_of(occupants->second, [&](Value other) {
           return timeline.lastUse(other) <= timeline.lastUse(value);
         });
}

} // namespace trainc
