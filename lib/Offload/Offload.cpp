// Pass `offload`.
#include "lib/Offload/Passes.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Plan/Plan.h"
#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/StateOrder.h"
#include "lib/Codegen/Target.h"
#include "lib/Offload/CopySchedule.h"
#include "lib/Offload/Groups.h"
#include "lib/Offload/HostUpdates.h"
#include "lib/Offload/Readers.h"
#include "lib/Offload/SavedValues.h"
#include "lib/Support/StoredElement.h"
#include "plan/schema/limits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_OFFLOAD
#include "lib/Offload/Passes.h.inc"

namespace {

/// Minimum bytes of offloaded states. A disk transfers blocks, and takes as long for a few blocks as for one.
constexpr int64_t kMinBytes = 2 * int64_t(kDiskAlignment);

/// Share of memory (1/8) that remains for gaps between buffers, which the estimate does not include.
constexpr int64_t kGapShare = 8;

/// Default bytes of a group: large enough that transfer time exceeds latency and an update has few
/// instructions, and small compared to all fetched bytes.
int64_t usualGroupBytes(ModuleOp module) {
  constexpr int64_t kMinGroupBytes = int64_t{16} << 20, kGroups = 1024, kUnit = int64_t{1} << 20;
  int64_t fetched = 0;
  for (auto state : module.getOps<train::StateOp>())
    if (state.getSpace() != plan::Space::device && state.getRole() != train::StateRole::activation)
      fetched += tensorBytes(state.getType());
  return std::max(kMinGroupBytes, int64_t(llvm::alignTo(fetched / kGroups, kUnit)));
}

/// Fetches and stores of one entry.
class EntryOffloader {
public:
  /// If `updates` is given, updates run on the host.
  EntryOffloader(train::EntryOp entry, int64_t groupBytes, const SymbolTable &symbols,
                 std::optional<HostUpdates> updates)
      : block_(entry.getBody().front()), groupBytes_(groupBytes), symbols_(symbols),
        updates_(std::move(updates)) {}

  void run() {
    fetchWhereRead();
    SmallVector<Group> groups;
    for (Group &group : findGroups()) {
      if (updates_ && updates_->canMove(group)) {
        updates_->move(group);
        continue;
      }
      SmallVector<Group> pieces = updates(group) ? cutGroup(group, groupBytes_) : SmallVector<Group>{group};
      groups.append(pieces.begin(), pieces.end());
    }
    for (Operation &op : block_)
      places_[&op] = places_.size();
    Operation *fetching = nullptr; // op of the last group that is fetched
    for (const Group &group : groups) {
      place(group, fetching ? fetching : group.op);
      fetching = group.gets.empty() ? fetching : group.op;
    }
  }

private:
  bool isOffloaded(StringRef state) const {
    return symbols_.lookup<train::StateOp>(state).getSpace() != plan::Space::device;
  }
  bool isActivation(StringRef state) const {
    return symbols_.lookup<train::StateOp>(state).getRole() == train::StateRole::activation;
  }
  bool updates(const Group &group) const;
  void fetchWhereRead();
  void split(train::GetOp get, ArrayRef<Reader> readers, train::SetOp write,
             const llvm::DenseMap<Operation *, size_t> &places);
  SmallVector<Group> findGroups();
  void place(const Group &group, Operation *before);

  Block &block_;
  int64_t groupBytes_;
  const SymbolTable &symbols_;
  std::optional<HostUpdates> updates_;
  /// Initial positions of ops. Asking the block would renumber all its ops after each move.
  llvm::DenseMap<Operation *, size_t> places_;
};

} // namespace

// --- Reads ---

/// Gives the readers of a state separate fetches, with the views in between, so that memory is free between
/// them. Adjacent readers share a fetch, and so do readers after a write of the state.
void EntryOffloader::fetchWhereRead() {
  const StateOrder order(block_);
  llvm::MapVector<train::GetOp, SmallVector<Reader>> reads;
  for (auto get : block_.getOps<train::GetOp>())
    if (isOffloaded(get.getState()) && !isActivation(get.getState()))
      reads[get] = readersOf(get.getResult());
  llvm::DenseMap<Operation *, size_t> places; // positions among all ops that read such states
  for (auto &[get, readers] : reads)
    for (const Reader &reader : readers)
      places[reader.op()] = 0;
  size_t next = 0;
  for (Operation &op : block_)
    if (auto found = places.find(&op); found != places.end())
      found->second = next++;
  for (auto &[get, readers] : reads)
    split(get, readers, order.writeAfter(get.getState(), get), places);
}

void EntryOffloader::split(train::GetOp get, ArrayRef<Reader> readers, train::SetOp write,
                           const llvm::DenseMap<Operation *, size_t> &places) {
  llvm::SetVector<Operation *> old; // in program order
  old.insert(get);
  const Reader *previous = nullptr;
  IRMapping again; // maps to values of the previous fetch
  for (const Reader &reader : readers) {
    const bool isOverwritten = write && write->isBeforeInBlock(reader.op());
    if (isOverwritten && !previous)
      return;
    OpBuilder builder(reader.op());
    if (!previous || (!isOverwritten && places.lookup(reader.op()) > places.lookup(previous->op()) + 1)) {
      again.clear();
      builder.clone(*get, again);
    }
    old.insert_range(reader.views);
    reader.readInstead(again, builder);
    previous = &reader;
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
}

/// Whether the group's states persist across entries.
bool EntryOffloader::updates(const Group &group) const {
  const auto isOfEntry = [&](auto access) { return isActivation(access.getState()); };
  return llvm::none_of(group.gets, isOfEntry) && llvm::none_of(group.sets, isOfEntry);
}

/// Returns the groups in the order of their ops. Values that no op computes, such as zeros, are written where
/// they are.
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
      groupOf(readersOf(get.getResult()).front().op()).gets.push_back(get);
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

/// Places fetches before `before`, but after writes of the same elements, and stores right after their
/// values.
void EntryOffloader::place(const Group &group, Operation *before) {
  for (train::GetOp get : group.gets) {
    if (places_.lookup(get) < places_.lookup(before))
      continue; // writes of its elements precede its use
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
  Offload() = default;
  explicit Offload(std::shared_ptr<codegen::Summaries> summaries) : summaries_(std::move(summaries)) {}
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (train::offloadOf(program).any() && failed(offload(program)))
        return signalPassFailure();
  }

private:
  LogicalResult offload(train::ProgramOp program);
  LogicalResult saveActivations(const train::OffloadSettings &settings, codegen::OpCosts &costs);
  LogicalResult scheduleCopies(const SymbolTable &symbols, codegen::OpCosts &costs);

  std::shared_ptr<codegen::Summaries> summaries_ = std::make_shared<codegen::Summaries>();
};

} // namespace

LogicalResult Offload::offload(train::ProgramOp program) {
  ModuleOp module = getOperation();
  const train::OffloadSettings settings = train::offloadOf(program);
  for (auto state : module.getOps<train::StateOp>())
    if (llvm::is_contained(settings.roles, state.getRole()) && tensorBytes(state.getType()) >= kMinBytes)
      state.setSpace(settings.space);
  const int64_t groupBytes = settings.groupBytes.value_or(usualGroupBytes(module));
  if (!settings.groupBytes && !settings.roles.empty())
    train::setDerived(program, train::kOffloadGroup, Twine(groupBytes), "bytes of offloaded states");
  const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(module);
  const auto ranks = train::kRanks.of(program);
  if (codegen::OpCosts costs(*target, ranks, summaries_);
      settings.activations && failed(saveActivations(settings, costs)))
    return failure();
  SpillSlots slots(module, settings.space); // separate from the slots of activations
  for (auto entry : module.getOps<train::EntryOp>()) {
    slots.beginEntry();
    std::optional<HostUpdates> updates;
    if (settings.updatesOnHost && target->host())
      updates.emplace(slots, *target->host());
    EntryOffloader(entry, groupBytes, slots.symbols(), std::move(updates)).run();
  }
  codegen::OpCosts costs(*target, ranks, summaries_); // costs of the present ops
  return scheduleCopies(slots.symbols(), costs);
}

LogicalResult Offload::saveActivations(const train::OffloadSettings &settings, codegen::OpCosts &costs) {
  SpillSlots slots(getOperation(), settings.space);
  for (auto entry : getOperation().getOps<train::EntryOp>())
    if (failed(saveValues(entry, kMinBytes, settings.hiddenAlone, slots, costs)))
      return failure();
  return success();
}

/// The memory limit of all entries is the maximum of their peaks.
LogicalResult Offload::scheduleCopies(const SymbolTable &symbols, codegen::OpCosts &costs) {
  std::vector<CopySchedule> entries;
  std::optional<size_t> microStep; // the micro_step follows each entry of a step, directly or soon
  int64_t maximum = 0;
  for (auto entry : getOperation().getOps<train::EntryOp>()) {
    FailureOr<CopySchedule> copies = CopySchedule::of(entry, symbols, costs);
    if (failed(copies))
      return failure();
    maximum = std::max(maximum, copies->peak());
    if (entry.getKind() == EntryKind::micro_step)
      microStep = entries.size();
    entries.push_back(std::move(*copies));
  }
  for (CopySchedule &copies : entries)
    copies.run(maximum - maximum / kGapShare);
  for (CopySchedule &copies : entries)
    if (microStep)
      copies.keepOutlasting(entries[*microStep]);
  return success();
}

std::unique_ptr<Pass> createOffload(std::shared_ptr<codegen::Summaries> summaries) {
  return std::make_unique<Offload>(std::move(summaries));
}

} // namespace trainc
