#include "lib/Memory/Timeline.h"

#include "lib/Analysis/CopyAttributes.h"
#include "lib/Analysis/StateOrder.h"

using namespace mlir;

namespace trainc {

bool isAlias(Operation *op) { return hasClass(op, KernelClass::Alias) || isWait(op); }
bool isCollective(Operation *op) { return hasClass(op, KernelClass::Collective); }
bool isLoop(Operation *op) { return hasClass(op, KernelClass::Loop); }

Timeline::Timeline(train::EntryOp entry) {
  number(entry.getBody().front());
  for (Operation &op : entry.getBody().front()) {
    if (isa<train::GetOp>(op) && op.hasAttr(kAheadAttr))
      gets_[&op] = ops_.size();
    if (auto set = dyn_cast<train::SetOp>(op))
      writes_.add(ops_.size(), set);
    ops_.push_back(&op);
  }
  for (auto set : entry.getBody().getOps<train::SetOp>())
    if (auto beside = set->getAttrOfType<IntegerAttr>(kBesideAttr)) {
      Operation *last = set;
      for (int64_t ops = beside.getInt(); ops > 0 && last->getNextNode();
           --ops) // the attribute may be any number in a text
        last = last->getNextNode();
      positions_[set].second = end(last);
    }
}

void Timeline::number(Block &block) {
  for (Operation &op : block) {
    int64_t begin = next_++;
    if (isLoop(&op))
      number(op.getRegion(0).front());
    positions_[&op] = {begin, isLoop(&op) ? next_++ : begin};
  }
}

int64_t Timeline::earliest(train::GetOp get) const {
  const auto ahead = get->getAttrOfType<IntegerAttr>(kAheadAttr);
  const auto found = gets_.find(get);
  if (!ahead || found == gets_.end())
    return begin(get);
  const size_t own = found->second, first = writes_.afterLast(own, get);
  const auto wanted = int64_t(own) - ahead.getInt(); // the attribute may be any number in a text
  return begin(ops_[size_t(std::clamp(wanted, int64_t(first), int64_t(own)))]);
}

Operation *Timeline::opFrom(int64_t position) const {
  const auto *op = llvm::partition_point(ops_, [&](Operation *each) { return begin(each) < position; });
  while (op + 1 != ops_.end() && gets_.contains(*op))
    ++op;
  return *op;
}

bool Timeline::isStoredBeside(Operation *op, Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<train::SetOp>(user) && begin(user) < begin(op) && begin(op) <= end(user);
  });
}

int64_t Timeline::lastUse(Value value, Operation *reader) const {
  if (reader && isCollective(reader)) // other readers make no difference
    return findLastUse(value, reader);
  if (auto known = lastUses_.find(value); known != lastUses_.end())
    return known->second;
  return lastUses_[value] = findLastUse(value, nullptr);
}

int64_t Timeline::findLastUse(Value value, Operation *reader) const {
  Operation *definition = value.getDefiningOp();
  int64_t last = definition ? end(definition) : begin(cast<BlockArgument>(value).getOwner()->getParentOp());
  for (Operation *user : value.getUsers()) {
    last = std::max(last, end(user));
    if (isAlias(user) || isPack(user))
      last = std::max(last, lastUse(user->getResult(0), reader));
    if (isCollective(user) && user != reader)
      for (Operation *wait : user->getUsers())
        last = std::max(last, end(wait));
  }
  return last;
}

} // namespace trainc
