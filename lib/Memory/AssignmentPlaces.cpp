// Computing values where they are wanted: in a state, in a flat tensor, in the destination of a gather.
#include "lib/Analysis/HostOps.h"
#include "lib/Memory/Assignment.h"
#include "lib/Support/StoredElement.h"
#include "lib/Support/UseOrder.h"

using namespace mlir;

namespace trainc {

/// Returns `outer` moved by the offset of `inner`.
static View moved(View outer, View inner) {
  if (outer.isNull())
    return {};
  outer.offset += inner.offset;
  outer.rankStep += inner.rankStep;
  return outer;
}

/// Returns the offset of a value in the value that contains it, as a view without storage.
static View placeOf(FlatOffset offset, Value held) {
  const int64_t bytes = elementBytes(cast<RankedTensorType>(held.getType()).getElementType());
  return {.offset = offset.elements * bytes, .rankStep = offset.elementsPerRank * bytes};
}

View Assignment::viewInside(View whole, ExecutableOpInterface alias) {
  return moved(whole, placeOf(alias.getFlatOffset(0), alias->getResult(0)));
}

/// `value` contains `made` at offset `within`.
View Assignment::wantedView(Value value, OpResult made, View within) {
  if (View inLoopResult = yieldViews_.lookup(value);
      !inLoopResult.isNull() && isFree(moved(inLoopResult, within), made))
    return inLoopResult;
  for (OpOperand *use : usesFromLast(value))
    if (View wanted = wantedByUser(*use, made, within); !wanted.isNull())
      return wanted;
  return {};
}

View Assignment::wantedByUser(OpOperand &use, OpResult made, View within) {
  Operation *user = use.getOwner();
  if (auto set = dyn_cast<train::SetOp>(user)) {
    if (storages_.isOffloaded(set.getState()) && !isMadeOnHost(set))
      return {};
    const View state = pieceOf(set);
    const View target = moved(state, within);
    return isFree(target, made) && canMakeInState(made, set.getState(), target, set) ? state : View();
  }
  auto executable = dyn_cast<ExecutableOpInterface>(user);
  if (!executable)
    return {};
  if (isAlias(user) && placeOf(executable.getFlatOffset(0), use.get()) == View())
    return wantedView(user->getResult(0), made, within);
  if (isPack(user))
    return packedView(use, made, within);
  if (isGather(user)) {
    const View part{.rankStep = bytesOf(use.get())};
    return moved(wantedView(user->getResult(0), made, moved(part, within)), part);
  }
  for (OpResult result : user->getResults())
    if (executable.getInPlaceOperand(result.getResultNumber()) == int(use.getOperandNumber()) &&
        use.get().hasOneUse())
      return wantedView(result, made, within);
  return {};
}

/// Returns a member's view in its flat tensor. The first member decides the view of the flat tensor.
View Assignment::packedView(OpOperand &member, OpResult made, View within) {
  auto pack = cast<ExecutableOpInterface>(member.getOwner());
  Value flat = pack->getResult(0);
  const View place = placeOf(pack.getFlatOffset(member.getOperandNumber()), member.get());
  if (!views_.count(flat)) {
    const View wanted = wantedView(flat, made, moved(place, within));
    bind(flat, wanted.isNull() ? newScratch(flat) : wanted);
  }
  return moved(views_.lookup(flat), place);
}

void Assignment::assignAlias(ExecutableOpInterface op) {
  makeZeros(op);
  Value value = op->getResult(0);
  const View inside = viewInside(views_.lookup(op->getOperand(0)), op);
  if (!outlivesWhole(op))
    return bind(value, inside);
  const View copy = newScratch(value);
  bind(value, copy);
  after_[op].push_back({inside, copy, bytesOf(value)});
}

/// Whether only a rank's shard of a collective's result is needed, and for long. A copy of the shard frees
/// the whole result.
bool Assignment::outlivesWhole(ExecutableOpInterface part) const {
  Value whole = part->getOperand(0);
  return isShardOfRank(part) && isWait(whole.getDefiningOp()) && whole.hasOneUse() &&
         !storages_[views_.lookup(whole).storage].persistent &&
         timeline_.lastUse(part->getResult(0)) > timeline_.begin(part) + 1;
}

/// A value may be computed in the state's buffer if the state's earlier values are not needed from its
/// definition on (the defining op may read one that it can compute in place), and nothing else is stored
/// there while it is needed. `stores` is the write for which the value, or the value that contains it, is
/// computed; null if there is none.
bool Assignment::canMakeInState(OpResult made, StringRef state, View target, train::SetOp stores) {
  const int64_t end = timeline_.end(made.getOwner());
  train::SetOp next = order_.writeAfter(state, made.getOwner());
  if (!next || (stores && next != stores))
    return false;
  const int64_t stored = timeline_.begin(next);
  for (train::GetOp get : order_.reads(state)) {
    const int64_t read = timeline_.begin(get);
    if (read < stored && (read > end || isReadLater(target, made, get.getResult())))
      return false;
  }
  const int64_t last = std::max(timeline_.lastUse(made), stored);
  if (!stores && next.getValue() != made)
    return last == stored;
  next = order_.writeAfter(state, next);
  return !next ||
         std::max(last, timeline_.lastUse(stores ? Value(stores.getValue()) : made)) < timeline_.begin(next);
}

/// Whether the op that computes `made` at `target` may read `operand` meanwhile.
bool Assignment::mayBeMadeOver(OpResult made, OpOperand &operand, View target) {
  if (!covers(target, made, operand.get()))
    return true;
  const View view = views_.lookup(operand.get());
  auto definition = cast<ExecutableOpInterface>(made.getOwner());
  if (isGather(definition))
    return view == moved(target, {.rankStep = bytesOf(operand.get())});
  const std::pair<int64_t, int64_t> pair(operand.getOperandNumber(), made.getResultNumber());
  const bool inPlace = definition.getInPlaceOperand(made.getResultNumber()) == int(pair.first) ||
                       llvm::is_contained(mayAliasPairs(definition), pair);
  return inPlace && view == target;
}

// --- Collectives ---

/// Copies members that were not computed in the flat tensor to it, and clears the gaps.
void Assignment::assignPack(ExecutableOpInterface pack) {
  Value flat = pack->getResult(0);
  if (!views_.count(flat)) { // no member is computed by an op that could do so in place
    const View wanted = wantedView(cast<OpResult>(flat));
    bind(flat, wanted.isNull() ? newScratch(flat) : wanted);
  }
  const View whole = views_.lookup(flat);
  int64_t end = 0;
  auto clear = [&](int64_t until) {
    if (until > end)
      before_[pack].push_back({View(), moved(whole, {.offset = end}), until - end});
  };
  for (OpOperand &member : pack->getOpOperands()) {
    const View place = placeOf(pack.getFlatOffset(member.getOperandNumber()), member.get()),
               target = moved(whole, place);
    clear(place.offset);
    end = place.offset + bytesOf(member.get());
    if (isZero(member.get()))
      before_[pack].push_back({View(), target, bytesOf(member.get())});
    else if (views_.lookup(member.get()) != target)
      before_[pack].push_back({views_.lookup(member.get()), target, bytesOf(member.get())});
  }
  clear(bytesOf(flat));
}

/// A sum over ranks may overwrite its operand.
void Assignment::assignCollective(ExecutableOpInterface start) {
  makeZeros(start);
  assignScratch(start);
  OpResult pending = start->getResult(0);
  Value operand = start->getOperand(0);
  const View wanted = wantedView(pending);
  const bool sums = cast<CollectiveOpInterface>(*start).getCollectiveKind() == CollectiveKind::all_reduce;
  if (!wanted.isNull())
    bind(pending, wanted);
  else
    bind(pending, sums && isOnlyReader(start) ? views_.lookup(operand) : newScratch(pending));
}

bool Assignment::isReadBefore(Value value, Operation *pack, int64_t position) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isAlias(user))
      return isReadBefore(user->getResult(0), pack, position);
    return user == pack || (!isa<CollectiveOpInterface>(user) && timeline_.begin(user) < position);
  });
}

bool Assignment::isOnlyReader(ExecutableOpInterface start) {
  Value operand = start->getOperand(0);
  Operation *definition = operand.getDefiningOp();
  const View view = views_.lookup(operand);
  if (!definition || isa<train::GetOp>(definition) || isAlias(definition) ||
      storages_[view.storage].persistent || !operand.hasOneUse())
    return false;
  const auto isMine = [&](Value member) {
    while (Operation *alias = member.getDefiningOp()) {
      if (!isAlias(alias))
        break;
      member = alias->getOperand(0);
    }
    return isReadBefore(member, definition, timeline_.begin(start));
  };
  return (!isPack(definition) || llvm::all_of(definition->getOperands(), isMine)) &&
         llvm::all_of(occupants_[view.storage],
                      [&](Value other) { return timeline_.lastUse(other) <= timeline_.lastUse(operand); });
}

} // namespace trainc
