#include "lib/Offload/CopySchedule.h"

#include "lib/Analysis/CopyAttributes.h"
#include "lib/Offload/Groups.h"
#include "lib/Offload/Readers.h"
#include "lib/Support/StoredElement.h"

#include <iterator>
#include <limits>

using namespace mlir;

namespace trainc {

static Value copiedBy(Operation *copy) {
  auto set = dyn_cast<train::SetOp>(copy);
  return set ? set.getValue() : Value(cast<train::GetOp>(copy).getResult());
}

static int64_t bytesOfCopy(Operation *copy) { return tensorBytes(copiedBy(copy).getType()); }

train::StateOp CopySchedule::stateOf(Operation *copy) const {
  auto set = dyn_cast<train::SetOp>(copy);
  const FlatSymbolRefAttr name = set ? set.getStateAttr() : cast<train::GetOp>(copy).getStateAttr();
  return cast<train::StateOp>(symbols_.lookup(name.getAttr()));
}

bool CopySchedule::isFetch(Operation *op) const {
  return isa<train::GetOp>(op) && !op->use_empty() && stateOf(op).getSpace() != plan::Space::device;
}

bool CopySchedule::isStore(Operation *op) const {
  return isa<train::SetOp>(op) && stateOf(op).getSpace() != plan::Space::device;
}

double CopySchedule::seconds(Operation *copy) const {
  const plan::Space outside = stateOf(copy).getSpace(), device = plan::Space::device;
  return isa<train::SetOp>(copy) ? copySeconds(device, outside, bytesOfCopy(copy), machine_)
                                 : copySeconds(outside, device, bytesOfCopy(copy), machine_);
}

FailureOr<CopySchedule> CopySchedule::of(train::EntryOp entry, const SymbolTable &symbols,
                                         codegen::OpCosts &costs) {
  Block &block = entry.getBody().front();
  FailureOr<OpTimes> times = OpTimes::of(block, costs);
  if (failed(times))
    return failure();
  return CopySchedule(block, std::move(*times), symbols, costs.machine());
}

CopySchedule::CopySchedule(Block &block, OpTimes times, const SymbolTable &symbols, const Machine &machine)
    : symbols_(symbols), machine_(machine), times_(std::move(times)),
      profile_(block, [&](train::GetOp get) { return isFetch(get); }) {}

void CopySchedule::run(int64_t bytes) {
  keepStored(bytes);
  fetchAhead(bytes);
  for (auto [set, last] : kept_) // as fetches stand now
    set->setAttr(kBesideAttr,
                 OpBuilder(set).getI64IntegerAttr(std::distance(set->getIterator(), last->getIterator())));
}

// --- Stores ---

/// Stored activations keep their memory until their copies end, as far as there is room. Stored states need
/// none: what uses their memory next is a fetch, which the disk runs behind the store.
void CopySchedule::keepStored(int64_t bytes) {
  double end = 0; // of all copies so far
  for (size_t number = 0; number < profile_.size(); ++number) {
    Operation *op = profile_.op(number);
    const bool queues = isStore(op) || (isFetch(op) && stateOf(op).getSpace() == plan::Space::disk);
    if (queues)
      end = std::max(end, times_.begin(op)) + seconds(op);
    if (!isStore(op) || stateOf(op).getRole() != train::StateRole::activation)
      continue;
    const int64_t own = bytesOfCopy(op);
    size_t last = profile_.lastRead(copiedBy(op));
    while (last + 1 < profile_.size() && times_.begin(profile_.op(last + 1)) < end &&
           profile_.bytesAt(last + 1) + own <= bytes)
      profile_.add(++last, own);
    while (isFetch(profile_.op(last))) // it may move, even in front of the store
      --last;
    kept_.push_back({cast<train::SetOp>(op), profile_.op(last)});
  }
}

// --- Fetches ---

/// When each fetch must begin at the latest, from the last one backwards: what comes behind a fetch on a disk
/// must have its time as well, stores included. Copies from a host's memory have a stream of their own.
llvm::DenseMap<Operation *, double> CopySchedule::latestBegins() const {
  llvm::DenseMap<Operation *, double> latest;
  double begin = std::numeric_limits<double>::infinity();
  for (size_t number = profile_.size(); number-- > 0;) {
    Operation *op = profile_.op(number);
    if (isStore(op) && stateOf(op).getSpace() == plan::Space::disk)
      begin -= seconds(op);
    if (isFetch(op)) {
      begin = std::min(begin, times_.begin(readersOf(copiedBy(op)).front().op())) - seconds(op);
      latest[op] = begin;
    }
  }
  return latest;
}

/// The first op from there on that stays where it is.
Operation *CopySchedule::anchorAt(size_t number) const {
  while (isFetch(profile_.op(number)))
    ++number;
  return profile_.op(number);
}

/// The last op from `first` to `last` that begins by then; the first one if none does.
size_t CopySchedule::lastBegunBy(double time, size_t first, size_t last) const {
  const auto behindFirst = llvm::seq(first + 1, last + 1);
  return *llvm::partition_point(behindFirst, [&](size_t number) {
    return times_.begin(profile_.op(number)) <= time;
  }) - 1;
}

/// Moves each fetch forward until it begins soon enough, or until memory or a store to the same elements
/// stands in its way.
void CopySchedule::fetchAhead(int64_t bytes) {
  const llvm::DenseMap<Operation *, double> latest = latestBegins();
  size_t previous = 0;
  for (size_t number = 0; number < profile_.size(); ++number) {
    Operation *fetch = profile_.op(number);
    if (!isFetch(fetch))
      continue;
    const int64_t own = bytesOfCopy(fetch);
    const auto mayPass = [&](size_t other) {
      auto set = dyn_cast<train::SetOp>(profile_.op(other));
      return profile_.bytesAt(other) + own <= bytes && !(set && meet(set, cast<train::GetOp>(fetch)));
    };
    const size_t soonEnough = lastBegunBy(latest.lookup(fetch), previous, number);
    size_t place = number;
    while (place > soonEnough && mayPass(place - 1))
      profile_.add(--place, own);
    fetch->moveBefore(anchorAt(place));
    previous = place;
  }
}

} // namespace trainc
