#include "lib/Offload/HostUpdates.h"

#include "lib/Analysis/HostOps.h"

using namespace mlir;

namespace trainc {

/// Whether nothing is written to the state between two ops.
static bool isUnchanged(FlatSymbolRefAttr state, Operation *from, Operation *to) {
  for (Operation *between = from->getNextNode(); between && between != to; between = between->getNextNode())
    if (auto set = dyn_cast<train::SetOp>(between); set && set.getStateAttr() == state)
      return false;
  return true;
}

/// Returns the first of several ops of a block.
static Operation *firstOf(ArrayRef<Operation *> ops) {
  return *llvm::min_element(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// Whether all other readers of the value follow the write, and the first of them finds the value in the
/// state.
static bool isReadAfter(train::SetOp set) {
  SmallVector<Operation *> others(
      llvm::make_filter_range(set.getValue().getUsers(), [&](Operation *user) { return user != set; }));
  if (others.empty())
    return true;
  Operation *first = firstOf(others);
  return set->isBeforeInBlock(first) && isUnchanged(set.getStateAttr(), set, first);
}

/// Whether nothing reads the state's old value between the op that computes the new one and the write.
static bool isWrittenAtOnce(train::SetOp set, Operation *op) {
  const auto reads = [&](Operation *get) {
    auto read = dyn_cast_or_null<train::GetOp>(get);
    return read && read.getStateAttr() == set.getStateAttr();
  };
  for (Operation *between = op->getNextNode(); between && between != set; between = between->getNextNode())
    if (reads(between) ||
        llvm::any_of(between->getOperands(), [&](Value value) { return reads(value.getDefiningOp()); }))
      return false;
  return true;
}

bool HostUpdates::canMove(const Group &group) const {
  const auto isOfOptimizer = [&](auto access) {
    return isOnHost(access.getStateAttr()) &&
           stateOf(access.getStateAttr()).getRole() == train::StateRole::optimizer;
  };
  return isa<nn::KernelOp>(group.op) && llvm::any_of(group.gets, isOfOptimizer) &&
         llvm::any_of(group.sets, isOfOptimizer) && hasPlaces(group);
}

/// Whether the host states that the op reads are unchanged, its results can be stored in host states, and
/// their readers find them there.
bool HostUpdates::hasPlaces(const Group &group) const {
  const auto liesThere = [&](Value value) {
    auto get = value.getDefiningOp<train::GetOp>();
    return !get || !isOnHost(get.getStateAttr()) || isUnchanged(get.getStateAttr(), get, group.op);
  };
  const auto mayBeWritten = [&](train::SetOp set) {
    return isReadAfter(set) && isWrittenAtOnce(set, group.op);
  };
  const auto isInSameBlock = [&](Operation *user) { return user->getBlock() == group.op->getBlock(); };
  return llvm::all_of(group.op->getOperands(), liesThere) &&
         llvm::all_of(group.op->getUsers(), isInSameBlock) && llvm::all_of(group.sets, mayBeWritten) &&
         isMadeInPlace(cast<nn::KernelOp>(group.op));
}

/// For each result of a kernel, returns the operand that is read from the state to which the result is
/// written; null if there is none.
static SmallVector<Value> oldValues(nn::KernelOp kernel) {
  SmallVector<Value> old;
  for (OpResult result : kernel->getResults()) {
    old.emplace_back();
    for (Operation *user : result.getUsers())
      if (auto set = dyn_cast<train::SetOp>(user))
        for (Value value : kernel.getInputs())
          if (auto get = value.getDefiningOp<train::GetOp>(); get && get.getStateAttr() == set.getStateAttr())
            old.back() = value;
  }
  return old;
}

/// Whether the host's kernel needs no scratch memory and can update each state in place.
bool HostUpdates::isMadeInPlace(nn::KernelOp kernel) const {
  const ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  const FailureOr<codegen::KernelSummary> summary = host_.summarise(kernel); // fails for fp8
  if (failed(summary) || !summary->scratchBytes.empty())
    return false;
  for (auto [result, old] : llvm::enumerate(oldValues(kernel))) {
    const auto operand = unsigned(llvm::find(kernel.getInputs(), old) - kernel.getInputs().begin());
    if (old && !llvm::is_contained(summary->mayAlias, std::pair(operand, unsigned(result))))
      return false;
  }
  return true;
}

void HostUpdates::move(const Group &group) {
  auto kernel = cast<nn::KernelOp>(group.op);
  kernel->setAttr(kOnHostAttr, UnitAttr::get(kernel.getContext()));
  const SmallVector<Value> old = oldValues(kernel);
  for (OpOperand &operand : kernel->getOpOperands())
    readOnHost(kernel, operand);
  for (OpResult result : kernel->getResults())
    copyResultToDevice(kernel, result, old[result.getResultNumber()]);
}

/// Reads host states in place. Other readers fetch them.
void HostUpdates::readOnHost(nn::KernelOp kernel, OpOperand &operand) {
  auto get = operand.get().getDefiningOp<train::GetOp>();
  const bool isThere = get && isOnHost(get.getStateAttr());
  if (isThere && get->hasOneUse())
    return;
  OpBuilder builder(kernel);
  const FlatSymbolRefAttr state = isThere ? get.getStateAttr() : slotOf(operand.get(), kernel);
  operand.set(train::GetOp::create(builder, kernel.getLoc(), operand.get().getType(), state.getValue(),
                                   isThere ? get.getOffset() : 0)
                  .getResult());
}

/// Returns the host slot to which a device value is copied as soon as it is known. Gradient sums, which are
/// all known at once, are copied in the order of their updates.
FlatSymbolRefAttr HostUpdates::slotOf(Value value, nn::KernelOp reader) {
  train::StateOp &slot = copied_[value];
  if (!slot) {
    slot = slots_.take(cast<RankedTensorType>(value.getType()));
    OpBuilder builder(reader);
    auto get = value.getDefiningOp<train::GetOp>();
    if (!get || stateOf(get.getStateAttr()).getRole() != train::StateRole::gradient)
      builder.setInsertionPointAfterValue(value);
    train::SetOp::create(builder, value.getLoc(), slot.getSymName(), value);
  }
  return FlatSymbolRefAttr::get(slot);
}

/// Readers other than host states fetch the result from its slot, all at once.
void HostUpdates::copyResultToDevice(nn::KernelOp kernel, OpResult result, Value old) {
  SmallVector<Operation *> others;
  FlatSymbolRefAttr place;
  for (Operation *user : result.getUsers())
    if (auto set = dyn_cast<train::SetOp>(user); set && isOnHost(set.getStateAttr()))
      place = set.getStateAttr();
    else
      others.push_back(user);
  if (!place) {
    place = placeOf(result, old);
    OpBuilder builder(kernel->getContext());
    builder.setInsertionPointAfter(kernel);
    train::SetOp::create(builder, kernel.getLoc(), place, result);
  }
  if (others.empty())
    return;
  OpBuilder builder(firstOf(others));
  auto get = train::GetOp::create(builder, kernel.getLoc(), result.getType(), place);
  for (Operation *user : others)
    user->replaceUsesOfWith(result, get);
}

/// A state's new value overwrites the old value's slot, so that later readers of the old value need another
/// copy.
FlatSymbolRefAttr HostUpdates::placeOf(OpResult result, Value old) {
  const auto known = copied_.find(old);
  if (!old || known == copied_.end())
    return FlatSymbolRefAttr::get(slots_.take(cast<RankedTensorType>(result.getType())));
  const auto slot = FlatSymbolRefAttr::get(known->second);
  copied_.erase(known);
  return slot;
}

} // namespace trainc
