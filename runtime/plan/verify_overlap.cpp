// The proof that communication may run beside computation.
//
// Collectives run on a stream of their own, one after the other in the order of their starts. A start follows
// all instructions before it, a wait precedes all after it. Walked in order, with the set of collectives in
// flight:
//
//  * No instruction writes a byte of an in-flight collective's source or destination, or reads one of its
//    destination. So every read is ordered after the write that it is to see, across both streams, and no
//    byte is used anew while a collective still holds it. A rank's instructions touch its own memory alone; a
//    collective reads peers' sources, which the same rule keeps as they are on every rank until it is done on
//    all.
//  * All ranks start the same collectives in the same order: they run one program, whose instructions do not
//  depend
//    on the rank but for operands' addresses, and those are compared as hulls over all ranks unless they move
//    alike.
//  * Each start has one wait, and waits come in the order of starts. So no wait is for what an earlier one
//  has
//    shown to be done: none is redundant.
#include "runtime/plan/place.h"
#include "runtime/plan/uses.h"
#include "runtime/plan/verify.h"

#include <algorithm>
#include <deque>

namespace trainc::verify {

namespace {

class Flights {
public:
  Flights(const fb::Plan &plan, const fb::Entry &entry) : plan_(plan), entry_(entry) {}

  Status check() {
    for (uint32_t i = 0; i < entry_.instructions()->size(); ++i) {
      const fb::Instruction &instruction = *entry_.instructions()->Get(i);
      if (const fb::Loop *loop = instruction.operation_as_Loop()) {
        for (uint32_t j = 0; j < loop->body()->size(); ++j)
          TRAINC_RETURN_IF_ERROR(located(plan_, entry_, loopIndex(i, j), *loop->body()->Get(j),
                                         uses(*loop->body()->Get(j), loop->count())));
        continue;
      }
      TRAINC_RETURN_IF_ERROR(located(plan_, entry_, std::to_string(i), instruction, step(i, instruction)));
    }
    if (inFlight_.empty())
      return {};
    const Flight &left = inFlight_.front();
    return located(plan_, entry_, std::to_string(left.index), *left.instruction,
                   invalidInput("{}: expected a wait for it in the same entry, found none",
                                collectiveName(left.start->kind())));
  }

private:
  struct Flight {
    const fb::Instruction *instruction;
    const fb::Start *start;
    uint32_t index;
  };

  Status step(uint32_t index, const fb::Instruction &instruction) {
    if (const fb::Wait *each = instruction.operation_as_Wait())
      return wait(*each);
    TRAINC_RETURN_IF_ERROR(uses(instruction, 1));
    const fb::Start *each = instruction.operation_as_Start();
    return each ? start(index, instruction, *each) : Status();
  }

  Status start(uint32_t index, const fb::Instruction &instruction, const fb::Start &start) {
    if (start.slot() >= plan_.slots())
      return invalidInput("start: expected a slot below {}, found {}", plan_.slots(), start.slot());
    const auto taken = std::ranges::find(inFlight_, start.slot(), slotOf);
    if (taken != inFlight_.end())
      return invalidInput("start: expected a free slot, found slot {} with {}", start.slot(), name(*taken));
    inFlight_.push_back({&instruction, &start, index});
    return {};
  }

  Status wait(const fb::Wait &wait) {
    const auto found = std::ranges::find(inFlight_, wait.slot(), slotOf);
    if (found == inFlight_.end())
      return invalidInput("wait: expected a collective in slot {}, found none since it was last waited for",
                          wait.slot());
    if (found != inFlight_.begin())
      return invalidInput("wait: expected waits in the order of starts, found one for {} before that for {}",
                          name(*found), name(inFlight_.front()));
    inFlight_.pop_front();
    return {};
  }

  /// That no operand of the instruction touches what a collective in flight holds.
  Status uses(const fb::Instruction &instruction, uint64_t iterations) const {
    Status status;
    forEachUse(plan_, instruction, iterations, [&](const Use &use) {
      for (const Flight &flight : inFlight_)
        if (status.ok())
          status = apart(instruction, use, flight);
    });
    return status;
  }

  Status apart(const fb::Instruction &instruction, const Use &use, const Flight &flight) const {
    const auto shares = [&](const Use &held) { return overlap(plan_, use.range, held.range); };
    bool conflict = false;
    forEachUse(plan_, *flight.instruction, 1,
               [&](const Use &held) { conflict |= (use.writes || held.writes) && shares(held); });
    if (!conflict)
      return {};
    return invalidInput("{}: it {} bytes that {} holds until its wait; expected it after that wait, or other "
                        "bytes",
                        nameOf(plan_, instruction, use), use.writes ? "writes" : "reads", name(flight));
  }

  static uint32_t slotOf(const Flight &flight) { return flight.start->slot(); }

  /// "the all-gather of instruction 12 (h.1: dist.all_gather at gpt.mlir:7)".
  std::string name(const Flight &flight) const {
    return fmt::format("the {} of instruction {} ({})", collectiveName(flight.start->kind()), flight.index,
                       sourceText(*plan_.sources()->Get(flight.instruction->source())));
  }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  std::deque<Flight> inFlight_; ///< in the order of starts
};

} // namespace

Status overlaps(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries())
    TRAINC_RETURN_IF_ERROR(Flights(plan, *entry).check());
  return {};
}

} // namespace trainc::verify
