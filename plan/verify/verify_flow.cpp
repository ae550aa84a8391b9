// Proof of data flow through memory, entry by entry:
//
//  * Every read is preceded by a matching write: every byte read through a buffer was last written, in the
//    same entry, through that buffer. Bytes of the persistent arena may instead be read as the entry found
//    them, except for batch columns: a column that is an input of the entry has been written by the host, and
//    any other column counts as unwritten. The scratch arena counts as unwritten when an entry begins. So no
//    two values that are live at once share bytes.
//  * No padding is read as a number: if a library call reads rows that another one wrote with padding, the
//    reader's row distance is the writer's or a multiple of it, and the reader's rows are not longer.
//
//  * No write is redundant: a copy, a zeroing or a collective does not overwrite a value that was written
//    through the same buffer and not read since, nor is its own result overwritten unread. So no transfer is
//    longer than its value.
//
// These are properties of each byte, so arenas are analysed separately. Loops are analysed over all
// iterations (flow_loop.cpp). An operand with a rank stride has a different address at each place, the index
// of a rank in its group along axes of the mesh. Bytes that no such operand accesses are analysed on rank 0
// alone. Other bytes are analysed on every rank. If all such operands have the same axes, only the places at
// which the order of operands' begins and ends changes are analysed (flow_places.cpp).
#include "plan/facts/view.h"
#include "plan/verify/flow.h"
#include "plan/verify/verify.h"

#include <algorithm>

namespace trainc::verify {

namespace {

/// The accesses of an entry to one arena.
class ArenaFlow {
public:
  ArenaFlow(const fb::Plan &plan, const fb::Entry &entry, uint32_t arena)
      : plan_(plan), entry_(entry), arena_(arena), persistent_(plan.arenas()->Get(arena)->persistent()) {
    for (uint32_t i = 0; i < entry.instructions()->size(); ++i)
      collect(i, *entry.instructions()->Get(i));
  }

  Status check() const {
    TRAINC_RETURN_IF_ERROR(walk(steps_, 0, {0, static_cast<int64_t>(plan_.arenas()->Get(arena_)->bytes())}));
    const std::vector<Span> zones = movingZones();
    const std::vector<std::vector<FlowStep>> steps = stepsIn(zones);
    for (size_t i = 0; i < zones.size(); ++i)
      for (const uint32_t rank : ranksOf(steps[i]))
        if (rank != 0)
          TRAINC_RETURN_IF_ERROR(walk(steps[i], rank, zones[i]));
    return {};
  }

private:
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
        const bool isMeant = writes ? use.writes : use.reads && !use.isWorkspace;
        if (held.arena() == arena_ && use.range.bytes > 0 && isMeant)
          step.accesses.push_back(
              {&instruction, use, writes, inner,
               static_cast<int64_t>(held.offset() + use.range.operand->offset() + use.range.shift),
               persistent_ && held.role() != fb::Role::Input,
               shapeOf(plan_, axesOf(use.range.operand->axes()))});
      });
  }

  /// Marks the batch columns that the host has filled.
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

  /// Spans that operands with a rank stride access, on any rank.
  std::vector<Span> movingZones() const {
    std::vector<Span> hulls;
    for (const FlowStep &step : steps_)
      for (const Access &access : step.accesses)
        if (access.rankStride() != 0)
          hulls.push_back(access.hull());
    std::ranges::sort(hulls, {}, &Span::begin);
    std::vector<Span> zones;
    for (const Span hull : hulls)
      if (zones.empty() || hull.begin >= zones.back().end)
        zones.push_back(hull);
      else
        zones.back().end = std::max(zones.back().end, hull.end);
    return zones;
  }

  /// Returns, for each zone of movingZones(), the accesses that overlap with the zone.
  std::vector<std::vector<FlowStep>> stepsIn(const std::vector<Span> &zones) const {
    std::vector<std::vector<FlowStep>> steps(zones.size());
    for (const FlowStep &step : steps_)
      for (const Access &access : step.accesses) {
        const Span hull = access.hull();
        const auto first = std::ranges::upper_bound(zones, hull.begin, {}, &Span::end);
        for (auto zone = first; zone != zones.end() && zone->begin < hull.end; ++zone) {
          std::vector<FlowStep> &inZone = steps[size_t(zone - zones.begin())];
          if (inZone.empty() || inZone.back().index != step.index)
            inZone.push_back({step.index, step.iterations, {}});
          inZone.back().accesses.push_back(access);
        }
      }
    return steps;
  }

  /// Ranks that represent all others for these accesses.
  std::vector<uint32_t> ranksOf(const std::vector<FlowStep> &steps) const {
    std::optional<RankGroupShape> moved;
    for (const FlowStep &step : steps)
      for (const Access &access : step.accesses)
        if (access.rankStride() != 0 && moved.value_or(access.shape) != access.shape)
          return allPlaces(plan_.ranks());
        else if (access.rankStride() != 0)
          moved = access.shape;
    std::vector<uint32_t> ranks = placesOf(steps, moved->members); // a zone has such accesses
    for (uint32_t &rank : ranks)
      rank *= moved->stride;
    return ranks;
  }

  std::vector<uint32_t> placesOf(const std::vector<FlowStep> &steps, uint32_t places) const {
    std::vector<Line> lines;
    const auto addEnds = [&](int64_t begin, int64_t bytes, int64_t stride) {
      lines.insert(lines.end(), {{begin, stride}, {begin + bytes, stride}});
    };
    bool anyAdvances = false;
    for (const FlowStep &step : steps)
      for (const Access &access : step.accesses) {
        addEnds(access.begin, access.bytes(), access.rankStride());
        anyAdvances |= access.use.range.operand->loop_stride() != 0;
      }
    if (entry_.inputs())
      for (const fb::Input *input : *entry_.inputs())
        if (const fb::Buffer &column = buffer(input->buffer()); column.arena() == arena_)
          addEnds(static_cast<int64_t>(column.offset()), static_cast<int64_t>(column.bytes()), 0);
    const bool allMoveAlike =
        std::ranges::all_of(lines, [&](const Line &line) { return line.stride == lines.front().stride; });
    return anyAdvances && !allMoveAlike // each iteration then has other begins and ends
               ? allPlaces(places)
               : differingPlaces(std::move(lines), places);
  }

  /// Analyses the bytes of `window` on a rank.
  Status walk(const std::vector<FlowStep> &steps, uint32_t rank, Span window) const {
    Written written;
    fill(written);
    for (const FlowStep &step : steps) {
      const auto fault = step.iterations > 1 ? applyLoop(step, rank, window, written)
                                             : applyOnce(step, rank, window, written);
      if (fault)
        return describe(step, *fault);
    }
    return {};
  }

  std::optional<Fault> applyOnce(const FlowStep &step, uint32_t rank, Span window, Written &written) const {
    std::optional<Fault> fault;
    for (const Access &access : step.accesses) {
      const int64_t begin = access.beginOn(rank), end = begin + access.bytes();
      written.update({std::max(begin, window.begin), std::min(end, window.end)}, [&](Content &content) {
        if (!fault)
          fault = apply(access, content);
      });
      if (fault)
        break;
    }
    return fault;
  }

  Status describe(const FlowStep &step, const Fault &fault) const {
    const fb::Instruction &instruction = *fault.access->instruction;
    const bool inLoop = entry_.instructions()->Get(step.index)->operation_type() == fb::Operation::Loop;
    return located(plan_, entry_,
                   inLoop ? loopIndex(step.index, fault.access->inner) : std::to_string(step.index),
                   instruction,
                   invalidInput("{}: {}", facts::nameOf(plan_, instruction, fault.access->use), text(fault)));
  }

  std::string text(const Fault &fault) const {
    const std::string_view name = nameOf(fault.access->buffer());
    switch (fault.kind) {
    case Fault::Unwritten:
      if (buffer(fault.access->buffer()).role() == fb::Role::Input)
        return fmt::format("expected '{}' among the entry's inputs, found a batch column that nothing fills",
                           name);
      return fmt::format("expected bytes written as '{}', found some that nothing in the entry has written "
                         "before",
                         name);
    case Fault::Overwritten:
      return fmt::format("expected bytes written as '{}', found some that '{}' has overwritten", name,
                         nameOf(fault.writer));
    case Fault::Padding:
      return fmt::format("expected rows of '{}' as a library call has written them, found others, which "
                         "would read padding as numbers",
                         name);
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

} // namespace

Status flow(const fb::Plan &plan) {
  for (const fb::Entry *entry : *plan.entries())
    for (uint32_t arena = 0; arena < plan.arenas()->size(); ++arena)
      TRAINC_RETURN_IF_ERROR(ArenaFlow(plan, *entry, arena).check());
  return {};
}

} // namespace trainc::verify
