// Pass `order-streams`: dependencies of each instruction on other streams.
#include "dialects/Plan/Plan.h"
#include "lib/Memory/Passes.h"
#include "lib/Plan/EmittedPlan.h"
#include "plan/facts/accesses.h"
#include "plan/facts/done_instructions.h"
#include "plan/facts/last_touches.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_ORDERSTREAMSPASS
#include "lib/Memory/Passes.h.inc"

namespace {

using Touches = LastTouches<kStreams>;

/// Walks an entry and tracks, for each instruction, which others are done when it is done.
class StreamOrder {
public:
  explicit StreamOrder(const EmittedPlan &plan) : plan_(*plan), touches_(plan->arenas()->size()) {}

  /// `entry` is emitted as `table`.
  void order(plan::EntryOp entry, const fb::Entry &table) {
    for (auto [instruction, emitted] :
         llvm::zip(entry.getBody().getOps<plan::InstructionOpInterface>(), *table.instructions())) {
      known_.push_back(facts::accessesOf(plan_, *emitted));
      if (const SmallVector<int64_t> after = comesAfter(instruction.getStream()); !after.empty())
        instruction.comeAfter(after);
      enqueue(instruction);
    }
  }

private:
  /// Returns the last instruction of each other stream that the newest instruction must follow, except those
  /// implied by another of them or by its own stream.
  SmallVector<int64_t> comesAfter(plan::Stream own) const {
    const DoneInstructions::Counts before = done_.before(size_t(own), ArrayRef<int64_t>());
    const Touches::Counts touched = touchedBefore();
    SmallVector<int64_t> candidates;
    for (size_t stream = 0; stream < kStreams; ++stream)
      if (stream != size_t(own))
        for (const uint32_t other : llvm::reverse(upTo(touched[stream], done_.on(stream)))) {
          if (other < before[stream])
            break;
          if (conflicts(other)) {
            candidates.push_back(other);
            break;
          }
        }
    llvm::sort(candidates);
    SmallVector<int64_t> needed;
    for (const int64_t candidate : candidates)
      if (llvm::none_of(candidates, [&](int64_t other) {
            return other != candidate && int64_t(done_[other][streams_[candidate]]) > candidate;
          }))
        needed.push_back(candidate);
    return needed;
  }

  /// Returns the instructions before `end`.
  static ArrayRef<uint32_t> upTo(uint32_t end, ArrayRef<uint32_t> instructions) {
    return instructions.take_front(llvm::lower_bound(instructions, end) - instructions.begin());
  }

  /// Returns, for each stream, the instructions up to the last one that may share bytes with the newest.
  /// Comparing hulls takes time independent of the number of instructions; `conflicts` checks exactly.
  Touches::Counts touchedBefore() const {
    Touches::Counts counts{};
    for (const facts::Access &access : known_.back())
      touches_[access.arena].find(facts::hull(plan_, access), access.writes, counts);
    return counts;
  }

  bool conflicts(uint32_t other) const {
    return llvm::any_of(known_.back(), [&](const facts::Access &access) {
      return llvm::any_of(known_[other],
                          [&](const facts::Access &held) { return facts::conflict(plan_, access, held); });
    });
  }

  void enqueue(plan::InstructionOpInterface instruction) {
    const auto index = uint32_t(streams_.size());
    const auto stream = size_t(instruction.getStream());
    done_.add(stream, done_.before(stream, instruction.getAfterOrNone()));
    streams_.push_back(stream);
    for (const facts::Access &access : known_.back())
      touches_[access.arena].add(index, stream, facts::hull(plan_, access), access.writes);
  }

  const fb::Plan &plan_;
  std::vector<std::vector<facts::Access>> known_; ///< by instruction
  DoneInstructions done_;
  std::vector<size_t> streams_;  ///< by instruction
  std::vector<Touches> touches_; ///< by arena
};

struct OrderStreamsPass : impl::OrderStreamsPassBase<OrderStreamsPass> {
  void runOnOperation() override {
    const EmittedPlan plan(getOperation());
    for (auto entry : getOperation().getOps<plan::EntryOp>())
      StreamOrder(plan).order(entry, plan.entry(entry));
  }
};

} // namespace
} // namespace trainc
