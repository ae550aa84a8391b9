#include "lib/Offload/SavedValues.h"

#include "lib/Analysis/ForwardOps.h"
#include "lib/Analysis/Preconditions.h"
#include "lib/Offload/OpTimes.h"
#include "lib/Offload/Readers.h"
#include "lib/Support/StoredElement.h"

#include "llvm/ADT/SetVector.h"

#include <functional>
#include <limits>
#include <map>

using namespace mlir;

namespace trainc {

SpillSlots::SpillSlots(ModuleOp module, plan::Space space) : symbols_(module), space_(space) {
  for (auto state : module.getOps<train::StateOp>())
    last_ = state;
}

train::StateOp SpillSlots::take(RankedTensorType type) {
  SmallVector<train::StateOp> &slots = slots_[type];
  const size_t number = used_[type]++;
  if (number < slots.size())
    return slots[number];
  OpBuilder builder(symbols_.getOp()->getContext());
  builder.setInsertionPointAfter(last_);
  auto slot = train::StateOp::create(builder, last_.getLoc(), "saved", train::StateRole::activation, type);
  slot.setSpace(space_);
  symbols_.insert(slot);
  last_ = slot;
  slots.push_back(slot);
  return slot;
}

/// Whether the op's results have memory of their own.
static bool makesValues(Operation *op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  return executable && (isGenerated(executable.getKernelClass()) || hasClass(op, KernelClass::Loop)) &&
         !isZero(op);
}

namespace {

/// A value, its last producer or reader in the forward, and its later readers.
struct Saved {
  Value value;
  Operation *last;
  SmallVector<Reader> late;
  double needed = 0; ///< time when the first later reader begins
};

} // namespace

/// Returns the readers of a value in the forward and later.
static Saved findReaders(Value value, const llvm::DenseSet<Operation *> &forward) {
  const SmallVector<Reader> readers = readersOf(value);
  auto early = llvm::find_if(llvm::reverse(readers),
                             [&](const Reader &reader) { return forward.contains(reader.op()); });
  Operation *last = early == readers.rend() ? value.getDefiningOp() : early->op();
  Saved saved{.value = value, .last = last, .late = {}};
  llvm::copy_if(readers, std::back_inserter(saved.late),
                [&](const Reader &reader) { return last->isBeforeInBlock(reader.op()); });
  return saved;
}

/// Stores the value after the op that computes it, and fetches it before the first of its late readers.
static void save(const Saved &saved, train::StateOp slot) {
  const Location loc = saved.value.getLoc();
  OpBuilder builder(saved.late.front().op());
  auto get = train::GetOp::create(builder, loc, saved.value.getType(), slot.getSymName(), 0);
  IRMapping mapping;
  mapping.map(saved.value, get.getResult());
  llvm::SetVector<Operation *> views; // in program order
  for (const Reader &reader : saved.late) {
    views.insert_range(reader.views);
    builder.setInsertionPoint(reader.op());
    reader.readInstead(mapping, builder);
  }
  for (Operation *view : llvm::reverse(views))
    if (view->use_empty())
      view->erase();
  builder.setInsertionPointAfterValue(saved.value);
  train::SetOp::create(builder, loc, slot.getSymName(), saved.value, 0);
}

namespace {

/// Times of copies, which run one after another in each direction, to find out which of them are hidden.
class CopyTimes {
public:
  CopyTimes(plan::Space space, const Machine &machine) : space_(space), machine_(machine) {}

  /// Whether a value can be stored and fetched between `ready` and `needed`.
  bool fit(int64_t bytes, double ready, double needed) const {
    return needed - ready >= storeSeconds(bytes) + fetchSeconds(bytes);
  }

  /// Whether the copies also fit between those of values added before (which are ready earlier), and each
  /// ends within kLongest times its duration, because the value occupies memory meanwhile. If so, adds the
  /// value.
  bool addHidden(int64_t bytes, double ready, double needed) {
    const double stored = std::max(ready, stored_) + storeSeconds(bytes);
    const double fetched = std::min(needed, fetched_) - fetchSeconds(bytes);
    const bool hide = stored <= fetched && stored - ready <= kLongest * storeSeconds(bytes) &&
                      needed - fetched <= kLongest * fetchSeconds(bytes);
    if (hide) {
      stored_ = stored;
      fetched_ = fetched;
    }
    return hide;
  }

private:
  static constexpr double kLongest = 2.5;

  double storeSeconds(int64_t bytes) const {
    return copySeconds(plan::Space::device, space_, bytes, machine_);
  }
  double fetchSeconds(int64_t bytes) const {
    return copySeconds(space_, plan::Space::device, bytes, machine_);
  }

  plan::Space space_;
  const Machine &machine_;
  double stored_ = 0;                                        ///< end of the last store
  double fetched_ = std::numeric_limits<double>::infinity(); ///< begin of the first fetch
};

} // namespace

/// Returns the forward values of at least `minBytes` that later ops read, by the time of their last use in
/// the forward. Values to which later ops add are excluded.
static std::multimap<double, Saved> findSaved(train::EntryOp entry, int64_t minBytes, const OpTimes &times) {
  const llvm::DenseSet<Operation *> forward = forwardOps(entry);
  std::multimap<double, Saved> found;
  for (Operation &op : entry.getBody().front())
    if (forward.contains(&op) && makesValues(&op))
      for (Value value : op.getResults()) {
        Saved saved = findReaders(value, forward);
        const bool isSum = llvm::any_of(saved.late, std::mem_fn(&Reader::updatesInPlace));
        if (tensorBytes(value.getType()) < minBytes || saved.late.empty() || isSum)
          continue;
        saved.needed = times.begin(saved.late.front().op());
        found.emplace(times.end(saved.last), std::move(saved));
      }
  return found;
}

LogicalResult saveValues(train::EntryOp entry, int64_t minBytes, bool hiddenAlone, SpillSlots &slots,
                         codegen::OpCosts &costs) {
  const FailureOr<OpTimes> times = OpTimes::of(entry.getBody().front(), costs);
  if (failed(times))
    return failure();
  CopyTimes copies(slots.space(), costs.machine());
  slots.beginEntry();
  for (const auto &[ready, saved] : findSaved(entry, minBytes, *times)) {
    const int64_t bytes = tensorBytes(saved.value.getType());
    if (hiddenAlone ? copies.addHidden(bytes, ready, saved.needed) : copies.fit(bytes, ready, saved.needed))
      save(saved, slots.take(cast<RankedTensorType>(saved.value.getType())));
  }
  return success();
}

} // namespace trainc
