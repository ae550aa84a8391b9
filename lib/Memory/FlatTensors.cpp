#include "lib/Memory/FlatTensors.h"

#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/collective.h"

using namespace mlir;

namespace trainc {

void FlatTensors::assignAlias(ExecutableOpInterface alias) {
  occupancy_.makeZeros(alias);
  Value value = alias->getResult(0);
  const View whole = assignment_.view(alias->getOperand(0)), offset = offsetOf(alias.getFlatOffset(0), value);
  const View inside = whole.movedBy(offset);
  if (inside.isNull()) { // both move with the rank, along different axes
    const View copy = assignment_.newScratch(alias->getOperand(0));
    assignment_.moveAfter(alias, {whole, copy, paddedBytes(alias->getOperand(0))});
    return occupancy_.bind(value, copy.movedBy(offset));
  }
  if (!outlivesWhole(alias))
    return occupancy_.bind(value, inside);
  const View copy = assignment_.newScratch(value);
  occupancy_.bind(value, copy);
  assignment_.moveAfter(alias, {inside, copy, paddedBytes(value)});
}

/// Whether only a rank's shard of a collective's result is needed, and for long. A copy of the shard frees
/// the whole result.
bool FlatTensors::outlivesWhole(ExecutableOpInterface part) const {
  const Timeline &timeline = assignment_.timeline();
  Value whole = part->getOperand(0);
  return isShardOfRank(part) && isWait(whole.getDefiningOp()) && whole.hasOneUse() &&
         !storages_[assignment_.view(whole).storage].persistent &&
         timeline.lastUse(part->getResult(0)) > timeline.begin(part) + 1;
}

void FlatTensors::assignPack(ExecutableOpInterface pack) {
  auto flat = cast<OpResult>(pack->getResult(0));
  if (assignment_.view(flat).isNull()) // no member is computed by an op that could do so in place
    occupancy_.bind(flat, wanted_.orScratch(flat));
  const View whole = assignment_.view(flat);
  int64_t end = 0;
  auto clear = [&](int64_t until) {
    if (until > end)
      assignment_.moveBefore(pack, {View(), whole.movedBy({.offset = end}), until - end});
  };
  for (OpOperand &member : pack->getOpOperands()) {
    const View place = offsetOf(pack.getFlatOffset(member.getOperandNumber()), member.get()),
               target = whole.movedBy(place);
    clear(place.offset);
    end = place.offset + paddedBytes(member.get());
    const View from = isZero(member.get()) ? View() : assignment_.view(member.get());
    if (from != target)
      assignment_.moveBefore(pack, {from, target, paddedBytes(member.get())});
  }
  clear(paddedBytes(flat));
}

void FlatTensors::assignCollective(ExecutableOpInterface start) {
  occupancy_.makeZeros(start);
  assignment_.addScratchOf(start);
  OpResult pending = start->getResult(0);
  View view = wanted_.of(pending);
  const CollectiveTraits traits = traitsOf(inSchema(cast<CollectiveOpInterface>(*start).getCollectiveKind()));
  const bool keepsSize = !traits.sourceIsShard && !traits.destinationIsShard;
  if (view.isNull())
    view = keepsSize && isOnlyReader(start) ? assignment_.view(start->getOperand(0))
                                            : assignment_.newScratch(pending);
  occupancy_.bind(pending, view);
}

/// Whether all readers of `value`, directly or through views, begin before `position`, except `pack`.
bool FlatTensors::isReadBefore(Value value, Operation *pack, int64_t position) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isAlias(user))
      return isReadBefore(user->getResult(0), pack, position);
    return user == pack ||
           (!isa<CollectiveOpInterface>(user) && assignment_.timeline().begin(user) < position);
  });
}

/// Whether nothing but the collective uses the operand's bytes from the collective's start on.
bool FlatTensors::isOnlyReader(ExecutableOpInterface start) const {
  Value operand = start->getOperand(0);
  Operation *definition = operand.getDefiningOp();
  const View view = assignment_.view(operand);
  if (!definition || isa<train::GetOp>(definition) || isAlias(definition) ||
      storages_[view.storage].persistent || !operand.hasOneUse())
    return false;
  const auto isMine = [&](Value member) {
    while (Operation *alias = member.getDefiningOp()) {
      if (!isAlias(alias))
        break;
      member = alias->getOperand(0);
    }
    return isReadBefore(member, definition, assignment_.timeline().begin(start));
  };
  return (!isPack(definition) || llvm::all_of(definition->getOperands(), isMine)) &&
         occupancy_.diesLast(operand, view.storage);
}

} // namespace trainc
