// The pass order-stores: which of an entry's last stores goes first.
#include "dialects/Plan/Plan.h"
#include "lib/Analysis/InstructionCost.h"
#include "lib/Analysis/InstructionUses.h"
#include "lib/Analysis/Outlasting.h"
#include "lib/Codegen/Target.h"
#include "lib/Memory/Passes.h"

#include "mlir/IR/BuiltinOps.h"

#include <limits>

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_ORDERSTORES
#include "lib/Memory/Passes.h.inc"

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// An entry's instructions, and when each that computes begins if none waits.
class Clock {
public:
  Clock(plan::EntryOp entry, const plan::Surroundings &around, const Machine &machine)
      : instructions_(llvm::to_vector(entry.getBody().getOps<plan::InstructionOpInterface>())) {
    for (plan::InstructionOpInterface instruction : instructions_) {
      begins_.push_back(end_);
      if (instruction.getStream() == plan::Stream::compute)
        end_ += instructionSeconds(*instruction, around, machine);
    }
  }

  size_t size() const { return instructions_.size(); }
  plan::InstructionOpInterface operator[](size_t number) const { return instructions_[number]; }
  double begin(size_t number) const { return begins_[number]; }
  double end() const { return end_; }
  /// The first instruction from there on that begins at that time or later; size() if none does.
  size_t firstFrom(double time, size_t number) const {
    return size_t(std::lower_bound(begins_.begin() + int64_t(number), begins_.end(), time) - begins_.begin());
  }

private:
  SmallVector<plan::InstructionOpInterface> instructions_;
  std::vector<double> begins_;
  double end_ = 0;
};

/// Which instruction writes bytes first, of those that are added, the last one first.
class FirstWriters {
public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit FirstWriters(const InstructionUses &uses) : uses_(uses) {}

  void add(size_t number, plan::InstructionOpInterface instruction) {
    for (const InstructionUse &use : uses_.of(instruction))
      if (use.writes)
        arenas_[use.arena].update(uses_.hull(use), [&](size_t &first) { first = number + 1; });
  }
  /// Of what the instruction reads; kNone if nobody writes there.
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
  llvm::DenseMap<Attribute, Pieces<size_t>> arenas_; ///< by byte: the instruction's number + 1
};

/// A copy to disk that outlasts its entry.
struct Store {
  plan::InstructionOpInterface copy;
  size_t number;        ///< among the entry's instructions
  double seconds, made; ///< what it takes, and when what it stores is there
  double needed;        ///< when the next entry wants the memory
};

struct OrderStores : impl::OrderStoresBase<OrderStores> {
  void runOnOperation() override;

private:
  SmallVector<Store> storesOf(plan::EntryOp entry, const Clock &clock, const Clock &next);

  std::optional<InstructionUses> uses_;
  std::optional<plan::Surroundings> around_;
  Machine machine_;
};

} // namespace

/// Those that nothing behind them in the entry stops from going out later.
SmallVector<Store> OrderStores::storesOf(plan::EntryOp entry, const Clock &clock, const Clock &next) {
  const SmallVector<uint32_t> copies = outlastingCopies(entry);
  if (copies.empty())
    return {};
  FirstWriters own(*uses_), behind(*uses_);
  for (size_t number = next.size(); number-- > 0;)
    if (next[number].getStream() != plan::Stream::disk)
      behind.add(number, next[number]);
  SmallVector<Store> stores;
  size_t number = clock.size();
  for (const uint32_t copy : llvm::reverse(copies)) {
    while (number > copy)
      if (plan::InstructionOpInterface instruction = clock[--number];
          instruction.getStream() != plan::Stream::disk)
        own.add(number, instruction);
    if (own.of(clock[copy]) != FirstWriters::kNone)
      continue;
    const size_t writer = behind.of(clock[copy]);
    stores.push_back({clock[copy], copy, instructionSeconds(*clock[copy], *around_, machine_),
                      clock.begin(copy),
                      writer == FirstWriters::kNone ? kNever : clock.end() + next.begin(writer)});
  }
  std::reverse(stores.begin(), stores.end());
  return stores;
}

/// Of those that are made when the disk is free, the one goes that is needed first.
static void schedule(SmallVector<Store> waiting, const Clock &clock, Block &block) {
  double free = 0;
  size_t place = 0;
  while (!waiting.empty()) {
    const auto isBetter = [&](const Store &a, const Store &b) {
      return std::tuple(std::max(a.made, free), a.needed, a.number) <
             std::tuple(std::max(b.made, free), b.needed, b.number);
    };
    auto next = std::min_element(waiting.begin(), waiting.end(), isBetter);
    const double begin = std::max(next->made, free);
    place = clock.firstFrom(begin, std::max(place, next->number + 1));
    Operation *copy = next->copy;
    if (place < clock.size())
      copy->moveBefore(clock[place]);
    else
      copy->moveBefore(&block, block.end());
    free = begin + next->seconds;
    waiting.erase(next);
  }
}

void OrderStores::runOnOperation() {
  ModuleOp module = getOperation();
  uses_.emplace(module);
  around_.emplace(module);
  machine_ = codegen::Target::chosenFor(module)->referenceMachine();
  auto microStep = findEntry<plan::EntryOp>(module, EntryKind::micro_step);
  if (!microStep)
    return;
  for (auto entry : module.getOps<plan::EntryOp>()) {
    const Clock clock(entry, *around_, machine_), next(microStep, *around_, machine_);
    schedule(storesOf(entry, clock, next), clock, entry.getBody().front());
  }
}

} // namespace trainc
