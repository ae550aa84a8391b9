#include "lib/Memory/AssignEntry.h"

#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Memory/FlatTensors.h"
#include "lib/Memory/LoopValues.h"
#include "lib/Memory/OffloadedStates.h"

using namespace mlir;

namespace trainc {

namespace {

// --- Walking the entry ---

class EntryAssigner {
public:
  EntryAssigner(train::EntryOp entry, Assignment &assignment, StorageTable &storages)
      : kind_(entry.getKind()), assignment_(assignment), storages_(storages),
        occupancy_(assignment, storages), wanted_(assignment, occupancy_, storages),
        offloaded_(assignment, occupancy_, storages), loops_(assignment, occupancy_, wanted_),
        flat_(assignment, occupancy_, wanted_, storages) {}

  void assignBlock(Block &block);

private:
  void assignOp(Operation &op);
  void assignGet(train::GetOp get);
  void assignSet(train::SetOp set);
  bool isZeroAnyway(StringRef state) const;
  void assignLoop(nn::ChunksOp loop);
  void assignExecutable(ExecutableOpInterface op);
  void assignResult(ExecutableOpInterface op, OpResult result);
  View overOperand(ExecutableOpInterface op, OpResult result);

  EntryKind kind_;
  Assignment &assignment_;
  StorageTable &storages_;
  Occupancy occupancy_;
  WantedViews wanted_;
  OffloadedStates offloaded_;
  LoopValues loops_;
  FlatTensors flat_;
};

} // namespace

void EntryAssigner::assignBlock(Block &block) {
  for (Operation &op : block)
    assignOp(op);
}

void EntryAssigner::assignOp(Operation &op) {
  if (auto get = dyn_cast<train::GetOp>(op))
    return assignGet(get);
  if (auto set = dyn_cast<train::SetOp>(op))
    return assignSet(set);
  if (auto input = dyn_cast<train::InputOp>(op))
    return occupancy_.bind(input.getResult(), {storages_.inputStorage(input)});
  if (isLoop(&op))
    return assignLoop(cast<nn::ChunksOp>(op));
  if (op.hasTrait<OpTrait::IsTerminator>())
    return loops_.assignYield(&op);
  if (op.getNumResults() == 1 && isZero(op.getResult(0)))
    return; // filled where it is used
  auto executable = cast<ExecutableOpInterface>(op);
  if (isAlias(&op))
    return flat_.assignAlias(executable);
  if (isPack(&op))
    return flat_.assignPack(executable);
  if (isCollective(&op))
    return flat_.assignCollective(executable);
  assignExecutable(executable);
}

/// A value that is read from a state shares the state's buffer, unless the state is overwritten while the
/// value is still needed.
void EntryAssigner::assignGet(train::GetOp get) {
  if (storages_.isOffloaded(get.getState()))
    return offloaded_.assignGet(get);
  const Timeline &timeline = assignment_.timeline();
  const View state{storages_.stateStorage(get.getState())};
  train::SetOp next = assignment_.stateOrder().writeAfter(get.getState(), get);
  if (!next || timeline.begin(next) >= timeline.lastUse(get.getResult()))
    return occupancy_.bind(get.getResult(), state);
  const View copy = assignment_.newScratch(get.getResult());
  occupancy_.bind(get.getResult(), copy);
  assignment_.moveAfter(get, {state, copy, paddedBytes(get.getResult())});
}

/// Arenas are zero when allocated, and init runs first. For offloaded parameters, plan verification requires
/// a store of zeros as well.
bool EntryAssigner::isZeroAnyway(StringRef state) const {
  return kind_ == EntryKind::init && assignment_.stateOrder().writes(state).size() == 1 &&
         !(storages_.isOffloaded(state) &&
           storages_[storages_.stateStorage(state)].role == plan::Role::parameter);
}

void EntryAssigner::assignSet(train::SetOp set) {
  Value value = set.getValue();
  if (isZero(value) && isZeroAnyway(set.getState()))
    return;
  if (storages_.isOffloaded(set.getState()))
    return offloaded_.assignSet(set);
  const View state{storages_.stateStorage(set.getState())};
  const View from = isZero(value) ? View() : assignment_.view(value);
  if (from != state)
    assignment_.moveBefore(set, {from, state, paddedBytes(value)});
}

void EntryAssigner::assignLoop(nn::ChunksOp loop) {
  loops_.assign(loop);
  Occupancy::Occupants outside = occupancy_.enterBody(loop);
  assignBlock(loop.getBody().front());
  occupancy_.leaveBody(std::move(outside));
}

void EntryAssigner::assignExecutable(ExecutableOpInterface op) {
  occupancy_.makeZeros(op);
  for (OpResult result : op->getResults())
    assignResult(op, result);
  assignment_.addScratchOf(op);
}

void EntryAssigner::assignResult(ExecutableOpInterface op, OpResult result) {
  const View wanted = wanted_.of(result);
  const int inPlace = op.getInPlaceOperand(result.getResultNumber());
  if (inPlace >= 0) {
    Value operand = op->getOperand(inPlace);
    const View from = isZero(operand) ? View() : assignment_.view(operand);
    if (occupancy_.mayOverwrite(result, operand))
      return occupancy_.bind(result, from);
    const View target = wanted.isNull() ? assignment_.newScratch(result) : wanted;
    occupancy_.bind(result, target);
    if (from != target)
      assignment_.moveBefore(op, {from, target, paddedBytes(result)});
    return;
  }
  const View view = wanted.isNull() ? overOperand(op, result) : wanted;
  occupancy_.bind(result, view.isNull() ? assignment_.newScratch(result) : view);
}

/// Returns the view of a dead operand over which the op can compute the result; null if there is none.
View EntryAssigner::overOperand(ExecutableOpInterface op, OpResult result) {
  for (auto [operandIndex, resultIndex] : mayAliasPairs(op)) {
    Value operand = op->getOperand(operandIndex);
    if (isStored(result, storages_) && !isFetched(operand, storages_))
      continue; // a copy to another space needs a storage of its own
    if (resultIndex == result.getResultNumber() && paddedBytes(operand) == paddedBytes(result) &&
        occupancy_.mayOverwrite(result, operand) && !storages_[assignment_.view(operand).storage].persistent)
      return assignment_.view(operand);
  }
  return {};
}

// --- Lifetimes ---

static void extendLifetime(StorageTable &storages, View view, int64_t first, int64_t last) {
  if (view.isNull() || storages[view.storage].persistent)
    return;
  Storage &storage = storages[view.storage];
  storage.first = std::min(storage.first, first);
  storage.last = std::max(storage.last, last);
}

/// Sets the lifetimes of the scratch storages that the block's ops use.
static void measureLifetimes(Block &block, const Assignment &assignment, StorageTable &storages) {
  for (Operation &op : block) {
    const int64_t first = assignment.timeline().begin(&op), last = assignment.timeline().end(&op);
    const auto touch = [&](View view) { extendLifetime(storages, view, first, last); };
    for (Value operand : op.getOperands())
      touch(assignment.view(operand));
    for (Value result : op.getResults())
      touch(assignment.view(result));
    if (isWait(&op)) { // until its wait, a collective reads its operand and uses its workspace
      Operation *start = op.getOperand(0).getDefiningOp();
      touch(assignment.view(start->getOperand(0)));
      for (int storage : assignment.scratch(start))
        touch({storage});
    }
    for (int storage : assignment.scratch(&op))
      touch({storage});
    for (ArrayRef<Move> moves : {assignment.movesBefore(&op), assignment.movesAfter(&op)})
      for (const Move &move : moves) {
        touch(move.from);
        touch(move.to);
      }
    if (isLoop(&op))
      measureLifetimes(op.getRegion(0).front(), assignment, storages);
  }
}

Assignment assignEntry(train::EntryOp entry, StorageTable &storages) {
  Assignment assignment(entry, storages);
  Block &body = entry.getBody().front();
  EntryAssigner(entry, assignment, storages).assignBlock(body);
  measureLifetimes(body, assignment, storages);
  return assignment;
}

} // namespace trainc
