// Pass `order-stores`: order of an entry's last stores.
#include "dialects/Plan/Plan.h"
#include "lib/Codegen/Target.h"
#include "lib/Memory/Passes.h"
#include "lib/Plan/EmittedPlan.h"
#include "plan/facts/accesses.h"
#include "plan/facts/outlasting.h"
#include "plan/facts/work.h"

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
  Clock(plan::EntryOp entry, const EmittedPlan &plan, const Machine &machine)
      : ops_(llvm::to_vector(entry.getBody().getOps<plan::InstructionOpInterface>())),
        tables_(*plan.entry(entry).instructions()) {
    for (const fb::Instruction *instruction : tables_) {
      begins_.push_back(end_);
      if (instruction->stream() == fb::Stream::Compute)
        end_ += instructionSeconds(*plan, *instruction, machine);
    }
  }

  size_t size() const { return ops_.size(); }
  Operation *op(size_t number) const { return ops_[number]; }
  const fb::Instruction &operator[](size_t number) const { return *tables_[unsigned(number)]; }
  double begin(size_t number) const { return begins_[number]; }
  double end() const { return end_; }
  /// Returns the first computing instruction from `number` on that begins at `time` or later; size() if there
  /// is none.
  size_t firstComputing(double time, size_t number) const {
    number =
        size_t(std::lower_bound(begins_.begin() + int64_t(std::min(number, size())), begins_.end(), time) -
               begins_.begin());
    while (number < size() && (*this)[number].stream() != fb::Stream::Compute)
      ++number;
    return number;
  }

private:
  SmallVector<plan::InstructionOpInterface> ops_;
  const flatbuffers::Vector<flatbuffers::Offset<fb::Instruction>> &tables_; ///< of `ops_`
  std::vector<double> begins_;
  double end_ = 0;
};

/// First writers of bytes. Instructions must be added from the last to the first.
class FirstWriters {
public:
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  explicit FirstWriters(const fb::Plan &plan) : plan_(plan), arenas_(plan.arenas()->size()) {}

  void add(size_t number, const fb::Instruction &instruction) {
    for (const facts::Access &access : facts::accessesOf(plan_, instruction))
      if (access.writes)
        arenas_[access.arena].update(facts::hull(plan_, access), [&](size_t &first) { first = number + 1; });
  }
  /// Returns the first writer of bytes that the instruction reads; kNone if there is none.
  size_t of(const fb::Instruction &instruction) const {
    size_t found = kNone;
    for (const facts::Access &access : facts::accessesOf(plan_, instruction))
      if (access.reads)
        arenas_[access.arena].forEach(facts::hull(plan_, access), [&](Span, size_t first) {
          found = first > 0 ? std::min(found, first - 1) : found;
        });
    return found;
  }

private:
  const fb::Plan &plan_;
  std::vector<Pieces<size_t>> arenas_; ///< for each byte, the instruction's number + 1
};

/// A copy to disk that outlasts its entry.
struct Store {
  Operation *copy;
  size_t number;        ///< among the entry's instructions
  double seconds, made; ///< duration, and time at which the stored value is known
  double needed;        ///< time at which the next entry reuses the memory
};

struct OrderStores : impl::OrderStoresBase<OrderStores> {
  void runOnOperation() override;

private:
  SmallVector<Store> storesOf(const fb::Plan &plan, const fb::Entry &entry, const Clock &clock,
                              const Clock &next, const FirstWriters &firstWriters);

  Machine machine_;
};

} // namespace

/// Whether two of the instructions write the same bytes.
static bool writeTheSame(ArrayRef<uint32_t> numbers, const Clock &clock, const fb::Plan &plan) {
  std::vector<Pieces<bool>> arenas(plan.arenas()->size());
  bool found = false;
  for (const uint32_t number : numbers)
    for (const facts::Access &access : facts::accessesOf(plan, clock[number]))
      if (access.writes)
        arenas[access.arena].update(facts::hull(plan, access),
                                    [&](bool &isWritten) { found |= std::exchange(isWritten, true); });
  return found;
}

/// Returns stores that can be deferred to the end of the entry.
SmallVector<Store> OrderStores::storesOf(const fb::Plan &plan, const fb::Entry &entry, const Clock &clock,
                                         const Clock &next, const FirstWriters &firstWriters) {
  const std::vector<uint32_t> copies = outlastingCopies(plan, entry);
  if (copies.empty() || writeTheSame(copies, clock, plan))
    return {};
  FirstWriters own(plan);
  SmallVector<Store> stores;
  size_t number = clock.size();
  for (const uint32_t copy : llvm::reverse(copies)) {
    while (number > copy)
      if (const fb::Instruction &instruction = clock[--number]; instruction.stream() != fb::Stream::Disk)
        own.add(number, instruction);
    if (own.of(clock[copy]) != FirstWriters::kNone)
      continue;
    const size_t writer = firstWriters.of(clock[copy]);
    stores.push_back({clock.op(copy), copy, instructionSeconds(plan, clock[copy], machine_),
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
      copy->moveBefore(clock.op(place));
    else
      copy->moveBefore(&block, block.end());
    free += next.seconds;
  }
}

void OrderStores::runOnOperation() {
  ModuleOp module = getOperation();
  const EmittedPlan plan(module);
  machine_ = codegen::Target::chosenFor(module)->referenceMachine(plan->ranks());
  auto microStep = findEntry<plan::EntryOp>(module, EntryKind::micro_step);
  if (!microStep)
    return;
  const Clock next(microStep, plan, machine_);
  FirstWriters firstWriters(*plan);
  for (size_t number = next.size(); number-- > 0;)
    if (next[number].stream() != fb::Stream::Disk)
      firstWriters.add(number, next[number]);
  for (auto entry : module.getOps<plan::EntryOp>()) {
    const Clock clock(entry, plan, machine_);
    schedule(storesOf(*plan, plan.entry(entry), clock, next, firstWriters), clock, entry.getBody().front());
  }
}

} // namespace trainc
