#include "lib/Offload/CopySchedule.h"

#include "lib/Analysis/CopyAttributes.h"
#include "lib/Analysis/HostOps.h"
#include "lib/Analysis/StateOrder.h"
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
  auto get = dyn_cast<train::GetOp>(op);
  return get && !get->use_empty() && !isReadOnHost(get) && stateOf(op).getSpace() != plan::Space::device;
}

bool CopySchedule::isStore(Operation *op) const {
  auto set = dyn_cast<train::SetOp>(op);
  return set && !isMadeOnHost(set) && stateOf(op).getSpace() != plan::Space::device;
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
    : block_(&block), symbols_(symbols), machine_(machine), times_(std::move(times)),
      profile_(block, [&](train::GetOp get) { return isFetch(get); }) {}

void CopySchedule::run(int64_t bytes) {
  keepStored(bytes);
  fetchAhead(bytes);
  llvm::DenseMap<Operation *, int64_t> places; // present positions of fetches
  for (Operation &op : *block_)
    places.try_emplace(&op, places.size());
  const auto say = [&](Operation *op, StringRef name, Operation *from, Operation *to) {
    op->setAttr(name, OpBuilder(op).getI64IntegerAttr(places.at(to) - places.at(from)));
  };
  for (auto [set, last] : kept_)
    say(set, kBesideAttr, set, last);
  for (auto [fetch, place] : early_)
    say(fetch, kAheadAttr, place, fetch);
}

void CopySchedule::keepOutlasting(const CopySchedule &next) {
  if (late_.empty())
    return;
  const std::vector<double> begins = next.begins();
  for (auto [set, end] : late_)
    if (const auto begun = std::lower_bound(begins.begin(), begins.end(), end - times_.end());
        begun != begins.begin())
      set->setAttr(kOutlastsAttr, OpBuilder(set).getI64IntegerAttr(begun - begins.begin()));
}

/// Returns for each position the time at which the next op that does not move begins.
std::vector<double> CopySchedule::begins() const {
  std::vector<double> begins;
  double next = times_.end();
  for (Operation &op : llvm::reverse(*block_)) {
    next = isFetch(&op) ? next : times_.begin(&op);
    begins.push_back(next);
  }
  std::reverse(begins.begin(), begins.end());
  return begins;
}

// --- Stores ---

/// Stored activations keep their memory until their copies end, as far as memory allows. Stored states need
/// not: a fetch is the next to use their memory, and the disk runs it after the store. Device-resident states
/// have memory of their own.
void CopySchedule::keepStored(int64_t bytes) {
  double end = 0; // of all copies so far
  for (size_t number = 0; number < profile_.size(); ++number) {
    Operation *op = profile_.op(number);
    const bool queues = isStore(op) || (isFetch(op) && stateOf(op).getSpace() == plan::Space::disk);
    if (queues)
      end = std::max(end, times_.begin(op)) + seconds(op);
    if (!isStore(op) || stateOf(op).getRole() != train::StateRole::activation ||
        copiedBy(op).getDefiningOp<train::GetOp>())
      continue;
    const int64_t own = bytesOfCopy(op);
    size_t last = profile_.lastRead(copiedBy(op));
    while (last + 1 < profile_.size() && times_.begin(profile_.op(last + 1)) < end &&
           profile_.bytesAt(last + 1) + own <= bytes)
      profile_.add(++last, own);
    while (isFetch(profile_.op(last))) // fetches may move, even before the store
      --last;
    kept_.push_back({cast<train::SetOp>(op), profile_.op(last)});
  }
}

// --- Fetches ---

/// Returns the latest begin of each fetch, computed from the last one backwards. On a disk the copies after a
/// fetch, stores included, need their time as well. Copies from host memory have their own stream.
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

/// The sequence of a disk's copies, up to some op of the entry.
class CopySchedule::DiskQueue {
public:
  explicit DiskQueue(const CopySchedule &copies) : copies_(copies) {}

  /// Returns when a copy before or after op `number`, the next one, could begin.
  double begin(size_t number) const {
    return std::max(end_, copies_.times_.begin(copies_.profile_.op(number)));
  }
  double end() const { return end_; } ///< of all copies so far
  /// Advances past op `number`, the next one.
  void pass(size_t number) {
    Operation *op = copies_.profile_.op(number);
    if (copies_.isStore(op) && isOnDisk(op))
      end_ = begin(number) + copies_.seconds(op);
    next_ = number + 1;
  }
  /// Advances to the fetch before op `number`, and past the fetch.
  void passTo(size_t number, Operation *fetch) {
    while (next_ < number)
      pass(next_);
    if (isOnDisk(fetch))
      end_ = begin(number) + copies_.seconds(fetch);
  }

private:
  bool isOnDisk(Operation *copy) const { return copies_.stateOf(copy).getSpace() == plan::Space::disk; }

  const CopySchedule &copies_;
  double end_ = 0;
  size_t next_ = 0;
};

/// Returns the first op from `number` on that does not move.
Operation *CopySchedule::anchorAt(size_t number) const {
  while (isFetch(profile_.op(number)))
    ++number;
  return profile_.op(number);
}

/// Returns the last op from `first` to `last` that begins by `time`; `first` if there is none.
size_t CopySchedule::lastBegunBy(double time, size_t first, size_t last) const {
  const auto afterFirst = llvm::seq(first + 1, last + 1);
  return *llvm::partition_point(afterFirst, [&](size_t number) {
    return times_.begin(profile_.op(number)) <= time;
  }) - 1;
}

/// Returns the last op from `first` to `last` before which the fetch, after all earlier stores, would end
/// before its reader begins; `first` if there is none.
size_t CopySchedule::lastInTime(Operation *fetch, DiskQueue disk, size_t first, size_t last) const {
  const double begin = times_.begin(readersOf(copiedBy(fetch)).front().op()) - seconds(fetch);
  size_t place = first;
  while (place < last) {
    disk.pass(place);
    if (disk.begin(place + 1) > begin)
      break;
    ++place;
  }
  return place;
}

/// Returns the op, from `previous` to the fetch's own position, before which the fetch begins soon enough, if
/// possible.
size_t CopySchedule::soonEnough(Operation *fetch, double latest, const DiskQueue &disk, size_t previous,
                                size_t number) const {
  const size_t last = lastBegunBy(latest, previous, number);
  return stateOf(fetch).getSpace() == plan::Space::disk ? lastInTime(fetch, disk, previous, last) : last;
}

/// Moves each fetch earlier until it begins soon enough, or until the memory limit or a store to the same
/// elements prevents it.
void CopySchedule::fetchAhead(int64_t bytes) {
  const llvm::DenseMap<Operation *, double> latest = latestBegins();
  NumberedWrites writes;
  for (size_t number = 0; number < profile_.size(); ++number)
    if (auto set = dyn_cast<train::SetOp>(profile_.op(number)))
      writes.add(number, set);
  DiskQueue disk(*this); // advanced to the previous fetch, if all fetches begin soon enough
  size_t previous = 0, previousWanted = 0;
  for (size_t number = 0; number < profile_.size(); ++number) {
    Operation *fetch = profile_.op(number);
    if (!isFetch(fetch))
      continue;
    const int64_t own = bytesOfCopy(fetch);
    const size_t first = writes.afterLast(number, cast<train::GetOp>(fetch)),
                 wanted =
                     std::max(soonEnough(fetch, latest.lookup(fetch), disk, previousWanted, number), first);
    size_t place = number;
    while (place > std::max(wanted, previous) && profile_.bytesAt(place - 1) + own <= bytes)
      profile_.add(--place, own);
    previous = place;
    fetch->moveBefore(anchorAt(previous));
    if (Operation *anchor = anchorAt(wanted); anchor != anchorAt(previous))
      early_.push_back({fetch, anchor});
    disk.passTo(wanted, fetch);
    previousWanted = wanted;
  }
  for (; previousWanted < profile_.size(); ++previousWanted) {
    disk.pass(previousWanted);
    auto set = dyn_cast<train::SetOp>(profile_.op(previousWanted));
    if (set && stateOf(set).getSpace() == plan::Space::disk)
      late_.push_back({set, disk.end()});
  }
}

} // namespace trainc
