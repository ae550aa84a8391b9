// Values on their way through memory, entry by entry:
//
//  * What an instruction reads is what was written for it: every byte read through a buffer was last written,
//  in the
//    same entry, through that buffer. Bytes of the persistent arena may instead be as the entry found them,
//    and batch columns as the host left them; the scratch arena holds nothing at an entry's start. So no two
//    values that are needed at once share bytes.
//  * Nothing is written in vain: a copy, a zeroing or a collective outside loops does not destroy what was
//  written
//    through the same buffer and not read since, nor is what it writes destroyed unread. So none is longer
//    than the value that it moves.
//
// Addresses depend on the rank, so an entry is walked for several places in a shard group: all of few, and of
// many the first two and the last, as addresses are linear in the place. Within a loop the operands' hulls
// over all iterations are taken.
#include "runtime/plan/place.h"
#include "runtime/plan/uses.h"
#include "runtime/plan/verify.h"
#include "runtime/plan/written.h"

#include <numeric>
#include <vector>

namespace trainc::verify {

namespace {

constexpr uint32_t kAllPlaces = 8;

class Flow {
public:
  Flow(const fb::Plan &plan, const fb::Entry &entry, uint32_t place)
      : plan_(plan), entry_(entry), place_(place), arenas_(plan.arenas()->size()) {}

  Status check() {
    if (entry_.inputs())
      for (const fb::Input *input : *entry_.inputs())
        fill(*input);
    for (uint32_t i = 0; i < entry_.instructions()->size(); ++i) {
      const fb::Instruction &instruction = *entry_.instructions()->Get(i);
      if (const fb::Loop *loop = instruction.operation_as_Loop()) {
        for (uint32_t j = 0; j < loop->body()->size(); ++j)
          TRAINC_RETURN_IF_ERROR(located(plan_, entry_, loopIndex(i, j), *loop->body()->Get(j),
                                         step(*loop->body()->Get(j), loop->count())));
      } else {
        TRAINC_RETURN_IF_ERROR(located(plan_, entry_, std::to_string(i), instruction, step(instruction, 1)));
      }
    }
    return {};
  }

private:
  void fill(const fb::Input &input) {
    const fb::Buffer &buffer = *plan_.buffers()->Get(input.buffer());
    const auto begin = static_cast<int64_t>(buffer.offset());
    arenas_[buffer.arena()].write({begin, begin + static_cast<int64_t>(buffer.bytes())},
                                  {.buffer = input.buffer(), .exact = false});
  }

  Status step(const fb::Instruction &instruction, uint64_t iterations) {
    Status status;
    forEachUse(plan_, instruction, iterations, [&](const Use &use) {
      if (use.reads && status.ok())
        status = read(instruction, use);
    });
    TRAINC_RETURN_IF_ERROR(status);
    return writeAll(instruction, iterations);
  }

  Status writeAll(const fb::Instruction &instruction, uint64_t iterations) {
    Status status;
    forEachUse(plan_, instruction, iterations, [&](const Use &use) {
      if (use.writes && status.ok())
        status = write(instruction, use);
    });
    return status;
  }

  Status read(const fb::Instruction &instruction, const Use &use) {
    const uint32_t buffer = use.range.operand->buffer();
    const bool persistent = plan_.arenas()->Get(arenaOf(use))->persistent();
    const Span span = spanAt(plan_, use.range, place_);
    Status status;
    arenas_[arenaOf(use)].forEach(span, [&](const Value *value) {
      if (!status.ok() || (value ? value->buffer == buffer : persistent))
        return;
      const std::string found = value ? fmt::format("some that '{}' has overwritten", nameOf(value->buffer))
                                      : "some that nothing in the entry has written before";
      status = invalidInput("{}: expected bytes written as '{}', found {}",
                            verify::nameOf(plan_, instruction, use), nameOf(buffer), found);
    });
    arenas_[arenaOf(use)].read(span);
    return status;
  }

  Status write(const fb::Instruction &instruction, const Use &use) {
    const uint32_t buffer = use.range.operand->buffer();
    const bool inLoop = use.range.iterations > 1;
    const bool exact = instruction.operation_type() != fb::Operation::Launch && !inLoop;
    const Span span = spanAt(plan_, use.range, place_);
    bool wasted = false;
    arenas_[arenaOf(use)].forEach(span, [&](const Value *value) {
      wasted |= value && value->buffer == buffer && !value->read && (exact || value->exact) && !inLoop;
    });
    if (wasted)
      return invalidInput(
          "{}: expected bytes of '{}' that are free to be written, found some that nothing has read "
          "since they were written",
          verify::nameOf(plan_, instruction, use), nameOf(buffer));
    arenas_[arenaOf(use)].write(span, {.buffer = buffer, .exact = exact});
    return {};
  }

  uint32_t arenaOf(const Use &use) const {
    return plan_.buffers()->Get(use.range.operand->buffer())->arena();
  }
  std::string_view nameOf(uint32_t buffer) const { return view(plan_.buffers()->Get(buffer)->name()); }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  uint32_t place_;
  std::vector<Written> arenas_;
};

std::vector<uint32_t> places(const fb::Plan &plan) {
  const uint32_t ranks = plan.shard_ranks();
  if (ranks > kAllPlaces)
    return {0, 1, ranks - 1};
  std::vector<uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

} // namespace

Status flow(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries())
    for (const uint32_t place : places(plan))
      TRAINC_RETURN_IF_ERROR(Flow(plan, *entry, place).check());
  return {};
}

} // namespace trainc::verify
