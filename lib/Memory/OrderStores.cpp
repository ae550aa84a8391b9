// Pass `order-stores`: order of an entry's last stores.
#include "dialects/Plan/Plan.h"
#include "lib/Analysis/InstructionCost.h"
#include "lib/Analysis/Outlasting.h"
#include "lib/Codegen/Target.h"
#include "lib/Memory/Passes.h"

#include "mlir/IR/BuiltinOps.h"

#include <limits>
#include <queue>
#include <utility>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_ORDERSTORES
#include "lib/Memory/Passes.h.inc"

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// An entry's instructions, and when each computing instruction begins if there is no waiting.
class Clock {
public:
  Clock(plan::EntryOp entry, const plan::ModuleContext &context, const Machine &machine)
      : instructions_(llvm::to_vector(entry.getBody().getOps<plan::InstructionOpInterface>())) {
    for (plan::InstructionOpInterface instruction : instructions_) {
      begins_.push_back(end_);
      streams_.push_back(instruction.getStream());
      if (streams_.back() == plan::Stream::compute)
        end_ += instructionSeconds(*instruction, context, machine);
    }
  }

  size_t size() const { return instructions_.size(); }
  plan::InstructionOpInterface operator[](size_t number) const { return instructions_[number]; }
  double begin(size_t number) const { return begins_[number]; }
  double end() const { return end_; }
  /// Returns the first computing instruction from `number` on that begins at `time` or later; size() if there
  /// is none.
  size_t firstComputing(double time, size_t number) const {
    number =
        size_t(std::lower_bound(begins_.begin() + int64_t(std::min(number, size())), begins_.end(), time) -
               begins_.begin());
    while (number < size() && streams_[number] != plan::Stream::compute)
      ++number;
    return number;
  }

private:
  SmallVector<plan::InstructionOpInterface> instructions_;
  std::vector<double> begins_;
  std::vector<plan::Stream> streams_;
  double end_ = 0;
};

/// First writers of bytes. Instructions must be added from the last to the first.
class FirstWriters {
public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit FirstWriters(const InstructionUses &uses) : uses_(uses) {}

  void add(size_t number, plan::InstructionOpInterface instruction) {
    for (const InstructionUse &use : uses_.of(instruction))
      if (use.writes)
        arenas_[use.arena].update(uses_.hull(use), [&](size_t &first) { first = number + 1; });
  }
  /// Returns the first writer of bytes that the instruction reads; kNone if there is none.
  size_t of(plan::InstructionOpInterface instruction) const {
    size_t found = kNone;
    for (const InstructionUse &use : uses_.of(instruction))
      if (auto arena = arenas_.find(use.arena); use.reads && arena != arenas_.end())
        arena->second.forEach(uses_.hull(use), [&](Span, size_t first) {
          found = first > 0 ? std::min(found, first - 1) : found;
        });
    return found;
  }

private:
  const InstructionUses &uses_;
  llvm::DenseMap<Attribute, Pieces<size_t>> arenas_; ///< for each byte, the instruction's number + 1
};

/// A copy to disk that outlasts its entry.
struct Store {
  plan::InstructionOpInterface copy;
  size_t number;        ///< among the entry's instructions
  double seconds, made; ///< duration, and time at which the stored value is known
  double needed;        ///< time at which the next entry reuses the memory
};

struct OrderStores : impl::OrderStoresBase<OrderStores> {
  void runOnOperation() override;

private:
  SmallVector<Store> storesOf(plan::EntryOp entry, const Clock &clock, const Clock &next,
                              const FirstWriters &firstWriters);

  std::optional<InstructionUses> uses_;
  Machine machine_;
};

} // namespace

/// Whether two of the instructions write the same bytes.
static bool writeTheSame(ArrayRef<uint32_t> numbers, const Clock &clock, const InstructionUses &uses) {
  llvm::DenseMap<Attribute, Pieces<bool>> arenas;
  bool found = false;
  for (const uint32_t number : numbers)
    for (const InstructionUse &use : uses.of(clock[number]))
      if (use.writes)
        arenas[use.arena].update(uses.hull(use),
                                 [&](bool &isWritten) { found |= std::exchange(isWritten, true); });
  return found;
}

/// Returns stores that can be deferred to the end of the entry.
SmallVector<Store> OrderStores::storesOf(plan::EntryOp entry, const Clock &clock, const Clock &next,
                                         const FirstWriters &firstWriters) {
  const SmallVector<uint32_t> copies = outlastingCopies(entry, uses_->context());
  if (copies.empty() || writeTheSame(copies, clock, *uses_))
    return {};
  FirstWriters own(*uses_);
  SmallVector<Store> stores;
  size_t number = clock.size();
  for (const uint32_t copy : llvm::reverse(copies)) {
    while (number > copy)
      if (plan::InstructionOpInterface instruction = clock[--number];
          instruction.getStream() != plan::Stream::disk)
        own.add(number, instruction);
    if (own.of(clock[copy]) != FirstWriters::kNone)
      continue;
    const size_t writer = firstWriters.of(clock[copy]);
    stores.push_back({clock[copy], copy, instructionSeconds(*clock[copy], uses_->context(), machine_),
                      clock.begin(copy),
                      writer == FirstWriters::kNone ? kNever : clock.end() + next.begin(writer)});
  }
  std::reverse(stores.begin(), stores.end());
  return stores;
}

/// Whenever the disk is free, starts the store that is needed first among those whose value is known.
static void schedule(ArrayRef<Store> stores, const Clock &clock, Block &block) {
  const auto isNeededLater = [](const Store &a, const Store &b) {
    return std::pair(a.needed, a.number) > std::pair(b.needed, b.number);
  };
  std::priority_queue<Store, std::vector<Store>, decltype(isNeededLater)> made(isNeededLater);
  double free = 0;
  size_t place = 0;
  while (!stores.empty() || !made.empty()) {
    for (; !stores.empty() && (stores.front().made <= free || made.empty()); stores = stores.drop_front()) {
      free = std::max(free, stores.front().made);
      made.push(stores.front());
    }
    const Store next = made.top();
    made.pop();
    place = clock.firstComputing(free, std::max(place, next.number + 1));
    Operation *copy = next.copy;
    if (place < clock.size())
      copy->moveBefore(clock[place]);
    else
      copy->moveBefore(&block, block.end());
    free += next.seconds;
  }
}

void OrderStores::runOnOperation() {
  ModuleOp module = getOperation();
  uses_.emplace(module);
  machine_ = codegen::Target::chosenFor(module)->referenceMachine(uses_->context().members(RankGroup::all));
  auto microStep = findEntry<plan::EntryOp>(module, EntryKind::micro_step);
  if (!microStep)
    return;
  const Clock next(microStep, uses_->context(), machine_);
  FirstWriters firstWriters(*uses_);
  for (size_t number = next.size(); number-- > 0;)
    if (next[number].getStream() != plan::Stream::disk)
      firstWriters.add(number, next[number]);
  for (auto entry : module.getOps<plan::EntryOp>()) {
    const Clock clock(entry, uses_->context(), machine_);
    schedule(storesOf(entry, clock, next, firstWriters), clock, entry.getBody().front());
  }
}

} // namespace trainc
