// Values on their way through memory, entry by entry:
//
//  * What an instruction reads is what was written for it: every byte read through a buffer was last written,
//  in
//    the same entry, through that buffer. Bytes of the persistent arena may instead be as the entry found
//    them, and batch columns as the host left them; the scratch arena holds nothing at an entry's start. So
//    no two values that are needed at once share bytes.
//  * Nothing is written in vain: a copy, a zeroing or a collective does not destroy what was written through
//  the
//    same buffer and not read since, nor is what it writes destroyed unread. So none is longer than the value
//    that it moves.
//
// Whether this holds is a matter of each byte, so arenas are followed apart. Loops are followed in all their
// iterations (flow_loop.cpp). Addresses depend on the rank, so an entry is walked for several places in a
// shard group: all of few, and of many the first two and the last, as addresses are linear in the place.
#include "runtime/plan/flow.h"
#include "runtime/plan/place.h"
#include "runtime/plan/verify.h"

#include <numeric>

namespace trainc::verify {

namespace {

constexpr uint32_t kAllPlaces = 8;

/// An entry as far as one arena is concerned.
class ArenaFlow {
public:
  ArenaFlow(const fb::Plan &plan, const fb::Entry &entry, uint32_t arena)
      : plan_(plan), entry_(entry), arena_(arena), persistent_(plan.arenas()->Get(arena)->persistent()) {
    for (uint32_t i = 0; i < entry.instructions()->size(); ++i)
      collect(i, *entry.instructions()->Get(i));
  }

  /// Walks the entry on the rank with a place in its shard group.
  Status check(uint32_t place) const {
    Written written;
    fill(written);
    for (const FlowStep &step : steps_) {
      const auto fault = step.iterations > 1 ? applyLoop(step, place, persistent_, whole(), written)
                                             : applyOnce(step, place, written);
      if (fault)
        return describe(step, *fault);
    }
    return {};
  }

private:
  Span whole() const { return {0, static_cast<int64_t>(plan_.arenas()->Get(arena_)->bytes())}; }
  const fb::Buffer &buffer(uint32_t index) const { return *plan_.buffers()->Get(index); }
  std::string_view nameOf(uint32_t index) const { return view(buffer(index).name()); }

  void collect(uint32_t index, const fb::Instruction &instruction) {
    const fb::Loop *loop = instruction.operation_as_Loop();
    FlowStep step{index, loop ? loop->count() : 1, {}};
    if (!loop)
      collect(instruction, 0, step);
    else
      for (uint32_t i = 0; i < loop->body()->size(); ++i)
        collect(*loop->body()->Get(i), i, step);
    if (!step.accesses.empty())
      steps_.push_back(std::move(step));
  }

  void collect(const fb::Instruction &instruction, uint32_t inner, FlowStep &step) const {
    for (const bool writes : {false, true})
      forEachUse(plan_, instruction, step.iterations, [&](const Use &use) {
        const fb::Buffer &held = buffer(use.range.operand->buffer());
        if (held.arena() == arena_ && use.range.bytes > 0 && (writes ? use.writes : use.reads))
          step.accesses.push_back({&instruction, use, writes, inner,
                                   static_cast<int64_t>(held.offset() + use.range.operand->offset())});
      });
  }

  /// What the host has left in batch columns.
  void fill(Written &written) const {
    if (!entry_.inputs())
      return;
    for (const fb::Input *input : *entry_.inputs()) {
      const fb::Buffer &column = buffer(input->buffer());
      const auto begin = static_cast<int64_t>(column.offset());
      if (column.arena() == arena_)
        written.update({begin, begin + static_cast<int64_t>(column.bytes())},
                       [&](Content &content) { content = Value{.buffer = input->buffer(), .exact = false}; });
    }
  }

  std::optional<Fault> applyOnce(const FlowStep &step, uint32_t place, Written &written) const {
    std::optional<Fault> fault;
    for (const Access &access : step.accesses) {
      const int64_t begin = access.beginAt(place);
      written.update({begin, begin + static_cast<int64_t>(access.use.range.bytes)}, [&](Content &content) {
        if (!fault)
          fault = apply(access, persistent_, content);
      });
      if (fault)
        break;
    }
    return fault;
  }

  Status describe(const FlowStep &step, const Fault &fault) const {
    const fb::Instruction &instruction = *fault.access->instruction;
    const bool inLoop = entry_.instructions()->Get(step.index)->operation_type() == fb::Operation::Loop;
    return located(
        plan_, entry_, inLoop ? loopIndex(step.index, fault.access->inner) : std::to_string(step.index),
        instruction,
        invalidInput("{}: {}", verify::nameOf(plan_, instruction, fault.access->use), text(fault)));
  }

  std::string text(const Fault &fault) const {
    const std::string_view name = nameOf(fault.access->buffer());
    switch (fault.kind) {
    case Fault::Unwritten:
      return fmt::format("expected bytes written as '{}', found some that nothing in the entry has written "
                         "before",
                         name);
    case Fault::Overwritten:
      return fmt::format("expected bytes written as '{}', found some that '{}' has overwritten", name,
                         nameOf(fault.writer));
    case Fault::Unread:
      return fmt::format("expected bytes of '{}' that are free to be written, found some that nothing has "
                         "read since they were written",
                         name);
    case Fault::Scattered:
      break;
    }
    return fmt::format("expected operands of the loop that advance alike over '{}', found bytes in too many "
                       "pieces to follow",
                       name);
  }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  uint32_t arena_;
  bool persistent_;
  std::vector<FlowStep> steps_;
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
    for (uint32_t arena = 0; arena < plan.arenas()->size(); ++arena) {
      const ArenaFlow flow(plan, *entry, arena);
      for (const uint32_t place : places(plan))
        TRAINC_RETURN_IF_ERROR(flow.check(place));
    }
  return {};
}

} // namespace trainc::verify
