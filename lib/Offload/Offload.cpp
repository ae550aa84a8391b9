// Pass `offload`.
#include "lib/Offload/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Offloading.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Offload/Groups.h"
#include "lib/Support/StoredElement.h"
#include "runtime/schema/limits.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_OFFLOAD
#include "lib/Offload/Passes.h.inc"

namespace {

/// States of fewer bytes stay in memory: a disk moves blocks, and takes as long for a few as for one.
constexpr int64_t kLeastBytes = 2 * int64_t(kDiskAlignment);

/// A use of what a train.get gives, and the views on the way from there.
struct Reader {
  OpOperand *use;
  SmallVector<Operation *, 2> views;

  Operation *op() const { return use->getOwner(); }
};

/// Fetches and stores of one entry.
class EntryOffloader {
public:
  EntryOffloader(train::EntryOp entry, int64_t groupBytes)
      : block_(entry.getBody().front()), groupBytes_(groupBytes),
        symbols_(entry->getParentOfType<ModuleOp>()) {}

  void run() {
    fetchWhereRead();
    SmallVector<Group> groups;
    for (Group &group : findGroups()) {
      SmallVector<Group> pieces = cutGroup(group, groupBytes_);
      groups.append(pieces.begin(), pieces.end());
    }
    for (auto [index, group] : llvm::enumerate(groups))
      place(group, index > 0 ? groups[index - 1].op : group.op);
  }

private:
  bool isOffloaded(StringRef state) const {
    return symbols_.lookup<train::StateOp>(state).getSpace() != plan::Space::device;
  }
  void fetchWhereRead();
  void split(train::GetOp get, ArrayRef<Reader> readers, train::SetOp write,
             const llvm::DenseMap<Operation *, size_t> &places);
  SmallVector<Group> findGroups();
  void place(const Group &group, Operation *before);

  Block &block_;
  int64_t groupBytes_;
  SymbolTable symbols_;
};

} // namespace

// --- Reads ---

static void addReaders(Value value, ArrayRef<Operation *> views, SmallVectorImpl<Reader> &readers) {
  for (OpOperand &use : value.getUses()) {
    SmallVector<Operation *, 2> path(views);
    if (!hasClass(use.getOwner(), KernelClass::Alias)) {
      readers.push_back({&use, path});
      continue;
    }
    path.push_back(use.getOwner());
    addReaders(use.getOwner()->getResult(0), path, readers);
  }
}

/// In the order of the block.
static SmallVector<Reader> readersOf(train::GetOp get) {
  SmallVector<Reader> readers;
  addReaders(get.getResult(), {}, readers);
  llvm::sort(readers, [](const Reader &a, const Reader &b) {
    return a.op() == b.op() ? a.use->getOperandNumber() < b.use->getOperandNumber()
                            : a.op()->isBeforeInBlock(b.op());
  });
  return readers;
}

/// Gives those that read a state a fetch of their own, with the views on the way, so that memory is free
/// between them: all but those next to each other, and those behind a write of the state.
void EntryOffloader::fetchWhereRead() {
  const StateOrder order(block_);
  llvm::MapVector<train::GetOp, SmallVector<Reader>> reads;
  for (auto get : block_.getOps<train::GetOp>())
    if (isOffloaded(get.getState()))
      reads[get] = readersOf(get);
  llvm::DenseMap<Operation *, size_t> places; // among all ops that read such states
  for (auto &[get, readers] : reads)
    for (const Reader &reader : readers)
      places[reader.op()] = 0;
  size_t next = 0;
  for (Operation &op : block_)
    if (auto found = places.find(&op); found != places.end())
      found->second = next++;
  for (auto &[get, readers] : reads)
    split(get, readers, order.writeBehind(get.getState(), get), places);
}

void EntryOffloader::split(train::GetOp get, ArrayRef<Reader> readers, train::SetOp write,
                           const llvm::DenseMap<Operation *, size_t> &places) {
  llvm::SetVector<Operation *> old; // each behind what it reads
  old.insert(get);
  const Reader *previous = nullptr;
  IRMapping again; // of the fetch before
  for (const Reader &reader : readers) {
    const bool isOverwritten = write && write->isBeforeInBlock(reader.op());
    if (isOverwritten && !previous)
      return;
    OpBuilder builder(reader.op());
    if (!previous || (!isOverwritten && places.lookup(reader.op()) > places.lookup(previous->op()) + 1)) {
      again.clear();
      builder.clone(*get, again);
    }
    for (Operation *view : reader.views) {
      old.insert(view);
      if (!again.contains(view->getResult(0)))
        builder.clone(*view, again);
    }
    reader.use->set(again.lookup(reader.use->get()));
    previous = &reader;
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
}

/// In the order of their ops. What no op computes, such as zeros, is written where it stands.
SmallVector<Group> EntryOffloader::findGroups() {
  llvm::MapVector<Operation *, Group> found;
  const auto groupOf = [&](Operation *op) -> Group & {
    Group &group = found[op];
    group.op = op;
    return group;
  };
  for (Operation &op : block_) {
    auto get = dyn_cast<train::GetOp>(op);
    if (get && isOffloaded(get.getState()) && !get->use_empty())
      groupOf(readersOf(get).front().op()).gets.push_back(get);
    auto set = dyn_cast<train::SetOp>(op);
    Operation *made = set && isOffloaded(set.getState()) ? set.getValue().getDefiningOp() : nullptr;
    if (made && !isZero(made) && !isa<train::GetOp>(made))
      groupOf(made).sets.push_back(set);
  }
  SmallVector<Group> groups;
  for (auto &[op, group] : found)
    groups.push_back(group);
  llvm::sort(groups, [](const Group &a, const Group &b) { return a.op->isBeforeInBlock(b.op); });
  return groups;
}

// --- Places ---

/// Whether both access some of the same elements.
static bool meet(train::SetOp set, train::GetOp get) {
  const auto size = [](Value piece) { return nn::tensorType(piece).getNumElements(); };
  const auto setBegin = int64_t(set.getOffset()), getBegin = int64_t(get.getOffset());
  return set.getState() == get.getState() && setBegin < getBegin + size(get.getResult()) &&
         getBegin < setBegin + size(set.getValue());
}

/// Fetches in front of `before`, but behind what writes the same elements; stores as soon as their values are
/// made.
void EntryOffloader::place(const Group &group, Operation *before) {
  for (train::GetOp get : group.gets) {
    if (get->isBeforeInBlock(before))
      continue; // what it reads is written before it is used
    Operation *place = get->getPrevNode();
    while (place && place != before->getPrevNode()) {
      auto set = dyn_cast<train::SetOp>(place);
      if (set && meet(set, get))
        break;
      place = place->getPrevNode();
    }
    place ? get->moveAfter(place) : get->moveBefore(&block_, block_.begin());
  }
  for (train::SetOp set : llvm::reverse(group.sets)) {
    Operation *place = set->getPrevNode();
    while (place != group.op && !conflict(place, set))
      place = place->getPrevNode();
    set->moveAfter(place);
  }
}

// --- The pass ---

namespace {

struct Offload : impl::OffloadBase<Offload> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const train::OffloadSettings settings = train::offloadOf(program);
      if (!settings.any())
        continue;
      for (auto state : getOperation().getOps<train::StateOp>())
        if (llvm::is_contained(settings.roles, state.getRole()) &&
            tensorBytes(state.getType()) >= kLeastBytes)
          state.setSpace(settings.space);
      for (auto entry : getOperation().getOps<train::EntryOp>())
        EntryOffloader(entry, settings.groupBytes).run();
    }
  }
};

} // namespace
} // namespace trainc
