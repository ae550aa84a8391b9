#include "test/unit/plan/verify/flow_interpreter.h"

#include "plan/facts/dtype.h"
#include "test/unit/plan/plans/library_bytes.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace trainc::test {

namespace {

/// One use of bytes [begin, end) of an arena.
struct TimedUse {
  uint32_t arena, buffer;
  uint64_t begin, end;
  bool writes;
  bool exact; ///< every byte is written

  bool overlaps(const TimedUse &other) const {
    return arena == other.arena && begin < other.end && other.begin < end;
  }
};

/// Content of a byte.
struct Held {
  uint32_t buffer;
  bool exact, read;
};

/// The uses of an entry on one rank, in their order.
class Trace {
public:
  Trace(const fb::PlanT &plan, const fb::EntryT &entry, uint32_t rank) : plan_(plan), rank_(rank) {
    for (const auto &input : entry.inputs)
      columns_.push_back(useOf(at(input->buffer), plan.buffers[input->buffer]->bytes, 0, true, false));
    for (const auto &instruction : entry.instructions)
      if (const fb::LoopT *loop = instruction->operation.AsLoop())
        for (uint64_t i = 0; i < loop->count; ++i)
          for (const auto &inner : loop->body)
            add(*inner, i);
      else
        add(*instruction, 0);
  }

  /// Whether all launches' arguments are apart or may be the same.
  bool apart() const { return apart_; }
  /// Columns that the host has written before.
  const std::vector<TimedUse> &columns() const { return columns_; }
  const std::vector<TimedUse> &uses() const { return uses_; }

private:
  TimedUse useOf(const fb::Operand &operand, uint64_t bytes, uint64_t iteration, bool writes,
                 bool exact) const {
    const fb::BufferT &buffer = *plan_.buffers[operand.buffer()];
    const uint64_t begin = buffer.offset + operand.offset() +
                           iteration * static_cast<uint64_t>(operand.loop_stride()) +
                           shapeOf(plan_, operand.axes()).placeOf(rank_) * operand.rank_stride();
    return {buffer.arena, operand.buffer(), begin, begin + bytes, writes, exact};
  }

  void read(const fb::Operand &operand, uint64_t bytes, uint64_t iteration) {
    uses_.push_back(useOf(operand, bytes, iteration, false, false));
  }
  void write(const fb::Operand &operand, uint64_t bytes, uint64_t iteration) {
    uses_.push_back(useOf(operand, bytes, iteration, true, true));
  }

  void add(const fb::InstructionT &instruction, uint64_t iteration) {
    if (const fb::LaunchT *launch = instruction.operation.AsLaunch()) {
      add(*launch, iteration);
    } else if (const fb::CopyT *copy = instruction.operation.AsCopy()) {
      read(*copy->source, copy->bytes, iteration);
      write(*copy->destination, copy->bytes, iteration);
    } else if (const fb::ZeroT *zero = instruction.operation.AsZero()) {
      write(*zero->destination, zero->bytes, iteration);
    } else if (const fb::CollectiveT *collective = instruction.operation.AsCollective()) {
      const uint64_t ranks = shapeOf(plan_, *collective->axes).members;
      for (const auto &range : collective->ranges)
        read(*range->source,
             range->elements / (collective->kind == fb::CollectiveKind::AllGather ? ranks : 1) *
                 elementBytes(range->dtype),
             0);
      for (const auto &range : collective->ranges)
        write(*range->destination,
              range->elements / (collective->kind == fb::CollectiveKind::ReduceScatter ? ranks : 1) *
                  elementBytes(range->widens ? fb::DType::F32 : range->dtype),
              0);
      for (const auto &range : collective->ranges)
        if (range->workspace)
          uses_.push_back(useOf(*range->workspace, range->workspace_bytes, 0, true, false));
    } else {
      add(libraryUses(instruction), iteration);
    }
  }

  void add(const std::vector<LibraryUse> &call, uint64_t iteration) {
    std::vector<std::pair<const LibraryUse *, TimedUse>> runs;
    for (const LibraryUse &each : call)
      for (const uint64_t begin : each.begins) {
        TimedUse run = useOf(*each.operand, each.bytes, iteration, each.writes, false);
        run.begin += begin;
        run.end += begin;
        runs.emplace_back(&each, run);
      }
    for (const auto &[each, run] : runs)
      for (const auto &[other, otherRun] : runs)
        apart_ &= &run == &otherRun || !run.writes || !run.overlaps(otherRun);
    for (const bool writes : {false, true})
      for (const auto &[each, run] : runs)
        if (writes ? each->writes : each->reads) {
          uses_.push_back(run);
          uses_.back().writes = writes;
        }
  }

  void add(const fb::LaunchT &launch, uint64_t iteration) {
    const auto &params = plan_.kernels[launch.kernel]->params;
    std::vector<TimedUse> arguments;
    for (size_t i = 0; i < params.size(); ++i)
      arguments.push_back(
          useOf(launch.args[i], params[i]->bytes, iteration, params[i]->access != fb::Access::Read, false));
    for (size_t i = 0; i < params.size(); ++i)
      for (size_t j = 0; j < params.size(); ++j)
        if (i != j && arguments[i].writes && arguments[i].overlaps(arguments[j]))
          apart_ &= arguments[i].begin == arguments[j].begin && arguments[i].end == arguments[j].end &&
                    (std::ranges::count(params[i]->may_alias, j) > 0 ||
                     std::ranges::count(params[j]->may_alias, i) > 0);
    for (size_t i = 0; i < params.size(); ++i)
      if (params[i]->access != fb::Access::Write) {
        uses_.push_back(arguments[i]);
        uses_.back().writes = false;
      }
    std::ranges::copy_if(arguments, std::back_inserter(uses_), &TimedUse::writes);
  }

  const fb::PlanT &plan_;
  uint32_t rank_;
  bool apart_ = true;
  std::vector<TimedUse> columns_, uses_;
};

/// The bytes of one arena, grouped into intervals in which no use begins or ends.
class Cells {
public:
  Cells(const Trace &trace, uint32_t arena, bool persistent) : arena_(arena), persistent_(persistent) {
    for (const auto *uses : {&trace.columns(), &trace.uses()})
      for (const TimedUse &use : *uses)
        if (use.arena == arena)
          ends_.insert(ends_.end(), {use.begin, use.end});
    std::ranges::sort(ends_);
    ends_.erase(std::ranges::unique(ends_).begin(), ends_.end());
    held_.resize(ends_.size());
    for (const TimedUse &column : trace.columns())
      if (column.arena == arena)
        for (std::optional<Held> &cell : cellsOf(column))
          cell = Held{column.buffer, false, false};
  }

  bool run(const Trace &trace) {
    return std::ranges::all_of(trace.uses(), [&](const TimedUse &use) {
      return use.arena != arena_ || (use.writes ? write(use) : read(use));
    });
  }

private:
  std::span<std::optional<Held>> cellsOf(const TimedUse &use) {
    const auto at = [&](uint64_t end) { return std::ranges::lower_bound(ends_, end) - ends_.begin(); };
    return {held_.begin() + at(use.begin), held_.begin() + at(use.end)};
  }

  bool read(const TimedUse &use) {
    for (std::optional<Held> &cell : cellsOf(use)) {
      if (cell ? cell->buffer != use.buffer : !persistent_)
        return false;
      if (cell)
        cell->read = true;
    }
    return true;
  }

  bool write(const TimedUse &use) {
    for (std::optional<Held> &cell : cellsOf(use)) {
      if (cell && cell->buffer == use.buffer && !cell->read && (use.exact || cell->exact))
        return false;
      cell = Held{use.buffer, use.exact, false};
    }
    return true;
  }

  uint32_t arena_;
  bool persistent_;
  std::vector<uint64_t> ends_;
  std::vector<std::optional<Held>> held_; ///< from each end to the next one
};

/// Whether all bytes of a buffer are read equally often, and written equally often.
bool isMovedWhole(const Trace &trace, const fb::BufferT &buffer, uint32_t arena) {
  std::set<uint64_t> boundaries = {buffer.offset};
  std::vector<TimedUse> uses;
  std::ranges::copy_if(trace.uses(), std::back_inserter(uses), [&](const TimedUse &use) {
    return use.overlaps({arena, 0, buffer.offset, buffer.offset + buffer.bytes, false, false});
  });
  for (const TimedUse &use : uses)
    boundaries.insert({use.begin, use.end});
  boundaries.erase(buffer.offset + buffer.bytes);
  std::set<std::pair<ptrdiff_t, ptrdiff_t>> counts; ///< reads and writes of the byte after a boundary
  for (const uint64_t boundary : boundaries) {
    const TimedUse byte{arena, 0, boundary, boundary + 1, false, false};
    const auto count = [&](bool writes) {
      return std::ranges::count_if(
          uses, [&](const TimedUse &use) { return use.writes == writes && use.overlaps(byte); });
    };
    counts.emplace(count(false), count(true));
  }
  return counts.size() == 1;
}

/// A copy between spaces: its buffer in the nearer one, the place in the other one, and the way.
using Transfer = std::tuple<uint32_t, uint32_t, uint64_t, uint64_t, bool>;

Transfer transferOf(uint32_t buffer, const fb::Operand &place, bool isStore) {
  return {buffer, place.buffer(), place.offset(), place.rank_stride(), isStore};
}

/// Transfers named by buffers.
std::set<Transfer> saidTransfers(const fb::PlanT &plan) {
  std::set<Transfer> said;
  for (uint32_t i = 0; i < plan.buffers.size(); ++i) {
    if (const auto &from = plan.buffers[i]->fetched)
      said.insert(transferOf(i, *from, false));
    for (const fb::Operand &to : plan.buffers[i]->stored)
      said.insert(transferOf(i, to, true));
  }
  return said;
}

/// Actual transfers; nothing if one is not at the begin of its buffer.
std::optional<std::set<Transfer>> transfers(const fb::PlanT &plan) {
  const auto spaceOf = [&](const fb::Operand &side) {
    return plan.arenas[plan.buffers[side.buffer()]->arena]->space;
  };
  std::set<Transfer> found;
  for (const auto &entry : plan.entries)
    for (const auto &instruction : entry->instructions) {
      const fb::CopyT *copy = instruction->operation.AsCopy();
      if (!copy || copy->bytes == 0 || spaceOf(*copy->source) == spaceOf(*copy->destination))
        continue;
      const bool isStore = spaceOf(*copy->source) < spaceOf(*copy->destination);
      const fb::Operand &near = isStore ? *copy->source : *copy->destination;
      if (near.offset() != 0 || near.rank_stride() != 0)
        return std::nullopt;
      found.insert(transferOf(near.buffer(), isStore ? *copy->destination : *copy->source, isStore));
    }
  return found;
}

} // namespace

bool isSound(const fb::PlanT &plan, const fb::EntryT &entry, uint32_t rank) {
  const Trace trace(plan, entry, rank);
  if (!trace.apart())
    return false;
  for (const auto &buffer : plan.buffers)
    if (const fb::ArenaT &arena = *plan.arenas[buffer->arena];
        arena.persistent && arena.space != fb::Space::Device && buffer->bytes > 0 &&
        !isMovedWhole(trace, *buffer, buffer->arena))
      return false;
  for (uint32_t arena = 0; arena < plan.arenas.size(); ++arena)
    if (!Cells(trace, arena, plan.arenas[arena]->persistent).run(trace))
      return false;
  return true;
}

bool isSound(const fb::PlanT &plan) {
  if (transfers(plan) != saidTransfers(plan))
    return false;
  for (uint32_t rank = 0; rank < plan.ranks; ++rank)
    for (const auto &entry : plan.entries)
      if (!isSound(plan, *entry, rank))
        return false;
  return true;
}

uint64_t soundnessSteps(const fb::PlanT &plan) {
  uint64_t steps = 0;
  for (const auto &entry : plan.entries)
    for (const auto &instruction : entry->instructions)
      if (const fb::LoopT *loop = instruction->operation.AsLoop())
        steps += loop->count * loop->body.size();
      else
        ++steps;
  return steps * plan.ranks;
}

} // namespace trainc::test
