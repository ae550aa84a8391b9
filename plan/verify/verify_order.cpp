// Proof that streams may run concurrently.
//
// An instruction begins when the previous ones on its stream and those in its `after` are done. By that, some
// of an entry's instructions are done before it begins; the others may run concurrently. Proven for each
// entry:
//
//  * Two instructions that access the same bytes of an arena, at least one of them writing, never run
//    concurrently, on any rank. So every valid execution gives the same bytes as the entry's own order, in
//    which verify_flow.cpp analyses the values. A collective also reads peers' memory, and is done when it is
//    done on all ranks: the same rule protects, on every rank, the bytes that others read there.
//  * All ranks run the same collectives in the same order: they run one program, whose instructions depend on
//    the rank only in operands' addresses, and collectives are on one stream.
//  * Each dependency in `after` is earlier, on another stream, and not implied by the others: no wait is
//    redundant.
#include "plan/facts/done_instructions.h"
#include "plan/facts/last_touches.h"
#include "plan/facts/uses.h"
#include "plan/schema/enum_words.h"
#include "plan/verify/verify.h"

#include <algorithm>
#include <ranges>
#include <span>
#include <vector>

namespace trainc::verify {

namespace {

using Done = DoneInstructions::Counts;

class Order {
public:
  Order(const fb::Plan &plan, const fb::Entry &entry)
      : plan_(plan), entry_(entry), touches_(plan.arenas()->size()) {}

  Status check() {
    for (uint32_t i = 0; i < entry_.instructions()->size(); ++i)
      TRAINC_RETURN_IF_ERROR(located(plan_, entry_, std::to_string(i), at(i), add(i)));
    return {};
  }

private:
  const fb::Instruction &at(uint32_t index) const { return *entry_.instructions()->Get(index); }

  Status add(uint32_t index) {
    const fb::Instruction &instruction = at(index);
    TRAINC_RETURN_IF_ERROR(edges(index, instruction));
    const Done begin = doneBefore(instruction, nullptr), touched = touchedBefore(instruction);
    for (size_t stream = 0; stream < kStreams; ++stream)
      if (stream != size_t(instruction.stream()))
        for (const uint32_t other : between(begin[stream], touched[stream], done_.on(stream)))
          TRAINC_RETURN_IF_ERROR(apart(instruction, other));
    forEachUseInside(plan_, instruction, [&](const fb::Instruction &, const Use &use) {
      touchesOf(use).add(index, size_t(instruction.stream()), hull(plan_, use.range), use.writes);
    });
    done_.add(size_t(instruction.stream()), begin);
    return {};
  }

  /// Instructions in [first, end).
  static std::span<const uint32_t> between(uint32_t first, uint32_t end,
                                           const std::vector<uint32_t> &instructions) {
    const auto from = std::ranges::lower_bound(instructions, first);
    return {from, std::lower_bound(from, instructions.end(), end)};
  }

  LastTouches<kStreams> &touchesOf(const Use &use) {
    return touches_[plan_.buffers()->Get(use.range.operand->buffer())->arena()];
  }

  /// For each stream, the instructions up to the last one that may overlap this one. Compares hulls,
  /// independent of the number of instructions; `apart` compares exactly.
  Done touchedBefore(const fb::Instruction &instruction) {
    Done touched{};
    forEachUseInside(plan_, instruction, [&](const fb::Instruction &, const Use &use) {
      touchesOf(use).find(hull(plan_, use.range), use.writes, touched);
    });
    return touched;
  }

  Status edges(uint32_t index, const fb::Instruction &instruction) const {
    if (!instruction.after())
      return {};
    const auto &after = *instruction.after();
    for (uint32_t i = 0; i < after.size(); ++i) {
      const uint32_t other = after.Get(i);
      if (other >= index || (i > 0 && other <= after.Get(i - 1)))
        return invalidInput("after: expected earlier instructions of the entry, ascending, found {}", other);
      if (at(other).stream() == instruction.stream())
        return invalidInput("after: expected instructions of other streams than {}, found {}",
                            wordOf(instruction.stream()), other);
    }
    for (const uint32_t other : after) // all of which exist
      if (other < doneBefore(instruction, &other)[size_t(at(other).stream())])
        return invalidInput("after: expected none that is implied by the others, found {}", other);
    return {};
  }

  /// Instructions that are done when this one begins, without the dependency on `except`.
  Done doneBefore(const fb::Instruction &instruction, const uint32_t *except) const {
    return done_.before(size_t(instruction.stream()),
                        afterOf(instruction) |
                            std::views::filter([&](uint32_t other) { return !except || other != *except; }));
  }

  /// Checks that the instruction and an earlier one may run concurrently.
  Status apart(const fb::Instruction &instruction, uint32_t other) const {
    Status status;
    forEachUseInside(plan_, instruction, [&](const fb::Instruction &inner, const Use &use) {
      forEachUseInside(plan_, at(other), [&](const fb::Instruction &, const Use &held) {
        if (status.ok() && (use.writes || held.writes) && overlap(plan_, use.range, held.range))
          status = invalidInput("{}: it {} bytes that instruction {} ({}), on the stream {}, {}; expected it "
                                "after that one, or other bytes",
                                nameOf(plan_, inner, use), use.writes ? "writes" : "reads", other,
                                sourceText(*plan_.sources()->Get(at(other).source())),
                                wordOf(at(other).stream()), held.writes ? "writes" : "reads");
      });
    });
    return status;
  }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  DoneInstructions done_;
  std::vector<LastTouches<kStreams>> touches_; ///< by arena
};

} // namespace

Status order(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries())
    TRAINC_RETURN_IF_ERROR(Order(plan, *entry).check());
  return {};
}

} // namespace trainc::verify
