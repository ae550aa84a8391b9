#include "test/unit/runtime/plan/plan_mutants.h"

#include "runtime/plan/dtype.h"
#include "runtime/plan/streams.h"
#include "test/unit/runtime/plans/library_bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace trainc::test {

namespace {

/// One operand's use of a buffer: bytes [begin, end) of its arena, over all iterations and ranks.
struct Touch {
  uint32_t buffer;
  uint32_t arena;
  int64_t begin, end;
  bool writes;
  const fb::CollectiveT *sum = nullptr; ///< an all-reduce
};

bool conflict(const Touch &a, const Touch &b) {
  return a.arena == b.arena && a.begin < b.end && b.begin < a.end && (a.writes || b.writes);
}

/// An instruction's use of bytes [begin, end) of one buffer.
struct Moment {
  size_t instruction;
  int64_t begin, end;
  bool writes;
  const fb::CollectiveT *sum; ///< the all-reduce that it is of, which may run in place
};
using Timeline = std::vector<Moment>;

/// Whether a value lies in bytes of a buffer before instruction `write.instruction` that is read after it.
bool isNeededThrough(const Timeline &timeline, const Moment &write) {
  bool written = false, read = false;
  size_t next = std::numeric_limits<size_t>::max(); // to use them after the write
  for (const Moment &moment : timeline) {
    if (moment.begin >= write.end || write.begin >= moment.end || moment.instruction == write.instruction ||
        (moment.sum && moment.sum == write.sum))
      continue;
    if (moment.instruction < write.instruction) {
      written |= moment.writes;
      continue;
    }
    next = std::min(next, moment.instruction);
    read |= moment.instruction == next && !moment.writes;
  }
  return written && read;
}

/// Whether to write `b` would destroy what is needed of `a`, if they began at the same place.
bool destroys(const Timeline &b, const Timeline &a) {
  return std::ranges::any_of(
      b, [&](const Moment &moment) { return moment.writes && isNeededThrough(a, moment); });
}

/// The instructions of one entry, as far as faults depend on them.
class EntryModel {
public:
  EntryModel(const fb::PlanT &plan, const fb::EntryT &entry) : plan_(plan) {
    for (const auto &instruction : entry.instructions)
      add(*instruction, 1, touches_.emplace_back());
    for (size_t i = 0; i < touches_.size(); ++i)
      findFeeders(i);
  }

  /// Whether instruction `j` reads scratch that of all before it only `i` has written.
  bool feeds(size_t i, size_t j) const { return feeders_[j].contains(i); }

  /// Whether scratch is read that nothing but this range of the `collective` has written to the buffer.
  bool isMissed(size_t collective, const fb::RangeT &range) const {
    const Touch missed = touch(*range.destination, rest(*range.destination), 1, true);
    bool read = false;
    for (size_t i = 0; i < touches_.size(); ++i) {
      if (i == collective)
        continue;
      for (const Touch &touch : touches_[i]) {
        if (touch.buffer != missed.buffer)
          continue;
        if (touch.writes)
          return false;
        read |= i > collective && conflict(touch, missed);
      }
    }
    return read && !plan_.arenas[missed.arena]->persistent;
  }

  /// Whether each of two ranges of a collective has room where the other one goes.
  bool fitElsewhere(const fb::CollectiveT &collective, const fb::RangeT &a, const fb::RangeT &b) const {
    const auto bytes = [&](const fb::RangeT &range) {
      const uint64_t parts =
          collective.kind == fb::CollectiveKind::ReduceScatter ? ranksOf(collective.group) : 1;
      return range.elements / parts * elementBytes(range.widens ? fb::DType::F32 : range.dtype);
    };
    return a.dtype == b.dtype && a.widens == b.widens && bytes(a) <= rest(*b.destination) &&
           bytes(b) <= rest(*a.destination);
  }

  /// The uses of scratch buffers by index.
  std::map<uint32_t, Timeline> timelines() const {
    std::map<uint32_t, Timeline> timelines;
    for (size_t i = 0; i < touches_.size(); ++i)
      for (const Touch &touch : touches_[i]) {
        const auto offset = static_cast<int64_t>(plan_.buffers[touch.buffer]->offset);
        if (!plan_.arenas[touch.arena]->persistent)
          timelines[touch.buffer].push_back(
              {i, touch.begin - offset, touch.end - offset, touch.writes, touch.sum});
      }
    return timelines;
  }

private:
  void findFeeders(size_t reader) {
    std::set<size_t> &feeders = feeders_.emplace_back();
    for (const Touch &read : touches_[reader]) {
      if (read.writes || plan_.arenas[read.arena]->persistent)
        continue;
      std::vector<size_t> writers;
      for (size_t i = 0; i < reader; ++i)
        if (std::ranges::any_of(touches_[i], [&](const Touch &a) { return a.writes && conflict(a, read); }))
          writers.push_back(i);
      if (writers.size() == 1)
        feeders.insert(writers.front());
    }
  }

  void add(const fb::InstructionT &instruction, uint64_t iterations, std::vector<Touch> &out) const {
    if (const fb::LaunchT *launch = instruction.operation.AsLaunch()) {
      for (size_t i = 0; i < launch->args.size(); ++i) {
        const fb::ParamT &param = *plan_.kernels[launch->kernel]->params[i];
        if (param.access != fb::Access::Write)
          out.push_back(touch(launch->args[i], param.bytes, iterations, false));
        if (param.access != fb::Access::Read)
          out.push_back(touch(launch->args[i], param.bytes, iterations, true));
      }
    } else if (const fb::CopyT *copy = instruction.operation.AsCopy()) {
      out.push_back(touch(*copy->source, copy->bytes, iterations, false));
      out.push_back(touch(*copy->destination, copy->bytes, iterations, true));
    } else if (const fb::ZeroT *zero = instruction.operation.AsZero()) {
      out.push_back(touch(*zero->destination, zero->bytes, iterations, true));
    } else if (const fb::LoopT *loop = instruction.operation.AsLoop()) {
      for (const auto &inner : loop->body)
        add(*inner, loop->count, out);
    } else if (const fb::CollectiveT *collective = instruction.operation.AsCollective()) {
      for (const auto &range : collective->ranges) {
        out.push_back(touch(*range->source, rest(*range->source), 1, false));
        out.push_back(touch(*range->destination, rest(*range->destination), 1, true));
        if (range->workspace)
          out.push_back(touch(*range->workspace, range->workspace_bytes, 1, true));
      }
      if (collective->kind == fb::CollectiveKind::AllReduce)
        for (Touch &each : out)
          each.sum = collective;
    }
    for (const LibraryUse &use : libraryUses(instruction)) {
      if (use.reads)
        out.push_back(touch(*use.operand, use.extent(), iterations, false));
      if (use.writes)
        out.push_back(touch(*use.operand, use.extent(), iterations, true));
    }
  }

  uint32_t ranksOf(fb::Group group) const {
    const uint32_t replicas = plan_.ranks / plan_.shard_ranks;
    return group == fb::Group::All ? plan_.ranks : group == fb::Group::Shard ? plan_.shard_ranks : replicas;
  }

  /// Collectives' operands reach to the end of their buffers, or not much less far.
  uint64_t rest(const fb::Operand &operand) const {
    return plan_.buffers[operand.buffer()]->bytes - operand.offset();
  }

  Touch touch(const fb::Operand &operand, uint64_t bytes, uint64_t iterations, bool writes) const {
    const fb::BufferT &buffer = *plan_.buffers[operand.buffer()];
    const int64_t begin = static_cast<int64_t>(buffer.offset + operand.offset());
    const int64_t travel = static_cast<int64_t>(iterations - 1) * operand.loop_stride();
    const auto shift = static_cast<int64_t>((plan_.shard_ranks - 1) * operand.rank_stride());
    return {operand.buffer(), buffer.arena, begin + std::min<int64_t>(travel, 0),
            begin + std::max<int64_t>(travel, 0) + shift + static_cast<int64_t>(bytes), writes};
  }

  const fb::PlanT &plan_;
  std::vector<std::vector<Touch>> touches_; ///< by instruction
  std::vector<std::set<size_t>> feeders_;   ///< by instruction
};

class Maker {
public:
  explicit Maker(const fb::PlanT &plan) : plan_(plan) {}

  std::vector<Mutant> make() {
    for (size_t entry = 0; entry < plan_.entries.size(); ++entry) {
      const EntryModel model(plan_, *plan_.entries[entry]);
      for (size_t i = 0; i < plan_.entries[entry]->instructions.size(); ++i) {
        changeOrder(entry, i);
        lengthen(entry, i);
        if (const fb::CollectiveT *collective = instruction(entry, i).operation.AsCollective())
          changeRanges(model, entry, i, *collective);
        for (size_t j = i + 1; j < plan_.entries[entry]->instructions.size(); ++j)
          swap(model, entry, i, j);
      }
      overlapScratch(model);
    }
    overlapPersistent();
    return std::move(mutants_);
  }

private:
  const fb::InstructionT &instruction(size_t entry, size_t i) const {
    return *plan_.entries[entry]->instructions[i];
  }
  void add(const char *kind, size_t entry, const std::string &what, std::function<void(fb::PlanT &)> apply) {
    mutants_.push_back(
        {kind, fmt::format("entry {}: {} {}", plan_.entries[entry]->name, kind, what), std::move(apply)});
  }

  /// Faults in what an instruction comes after, and where it runs.
  void changeOrder(size_t entry, size_t i) {
    const std::vector<uint32_t> &after = instruction(entry, i).after;
    for (size_t e = 0; e < after.size(); ++e) {
      const std::string what = fmt::format("{} after {}", i, after[e]);
      add("drop", entry, what, [=](fb::PlanT &plan) {
        auto &edges = plan.entries[entry]->instructions[i]->after;
        edges.erase(edges.begin() + static_cast<ptrdiff_t>(e));
      });
      if (const std::optional<uint32_t> before = previousOnStream(entry, after[e]))
        add("early", entry, what,
            [=](fb::PlanT &plan) { plan.entries[entry]->instructions[i]->after[e] = *before; });
    }
    for (const fb::Stream stream : fb::EnumValuesStream())
      if (stream != instruction(entry, i).stream)
        add("stream", entry, fmt::format("{} on {}", i, streamName(stream)),
            [=](fb::PlanT &plan) { plan.entries[entry]->instructions[i]->stream = stream; });
  }

  std::optional<uint32_t> previousOnStream(size_t entry, uint32_t index) const {
    for (uint32_t i = index; i-- > 0;)
      if (instruction(entry, i).stream == instruction(entry, index).stream)
        return i;
    return std::nullopt;
  }

  void lengthen(size_t entry, size_t i) {
    const fb::Operation type = instruction(entry, i).operation.type;
    if (type != fb::Operation::Copy && type != fb::Operation::Zero)
      return;
    add("lengthen", entry, std::to_string(i), [=](fb::PlanT &plan) {
      auto &operation = plan.entries[entry]->instructions[i]->operation;
      if (fb::CopyT *copy = operation.AsCopy())
        copy->bytes += 4;
      else
        operation.AsZero()->bytes += 4;
    });
  }

  void changeRanges(const EntryModel &model, size_t entry, size_t i, const fb::CollectiveT &collective) {
    const auto rangesOf = [=](fb::PlanT &plan) -> auto & {
      return plan.entries[entry]->instructions[i]->operation.AsCollective()->ranges;
    };
    for (size_t r = 0; r < collective.ranges.size(); ++r) {
      const std::string what = fmt::format("range {} of {}", r, i);
      add("lengthen", entry, what, [=](fb::PlanT &plan) {
        rangesOf(plan)[r]->elements += plan.ranks; // a multiple of any group
      });
      add("widen", entry, what, [=](fb::PlanT &plan) { rangesOf(plan)[r]->widens ^= true; });
      if (collective.ranges[r]->sum_kernel)
        changeSum(entry, i, r);
      if (collective.ranges.size() > 1 && model.isMissed(i, *collective.ranges[r]))
        add("drop", entry, what, [=](fb::PlanT &plan) {
          rangesOf(plan).erase(rangesOf(plan).begin() + static_cast<ptrdiff_t>(r));
        });
      for (size_t s = r + 1; s < collective.ranges.size(); ++s)
        if (!model.fitElsewhere(collective, *collective.ranges[r], *collective.ranges[s]))
          add("swap", entry, fmt::format("destinations of ranges {} and {} of {}", r, s, i),
              [=](fb::PlanT &plan) {
                std::swap(rangesOf(plan)[r]->destination, rangesOf(plan)[s]->destination);
              });
    }
  }

  /// Faults in a sum by a kernel.
  void changeSum(size_t entry, size_t i, size_t r) {
    const auto change = [&](const char *how, std::function<void(fb::RangeT &)> apply) {
      add("sum", entry, fmt::format("of range {} of {}: {}", r, i, how), [=](fb::PlanT &plan) {
        apply(*plan.entries[entry]->instructions[i]->operation.AsCollective()->ranges[r]);
      });
    };
    change("no kernel", [](fb::RangeT &range) { range.sum_kernel = flatbuffers::nullopt; });
    change("no workspace", [](fb::RangeT &range) { range.workspace = nullptr; });
    change("a short workspace", [](fb::RangeT &range) { range.workspace_bytes = 63; });
    for (uint32_t kernel = 0; kernel < plan_.kernels.size(); ++kernel)
      if (kernel != plan_.entries[entry]->instructions[i]->operation.AsCollective()->ranges[r]->sum_kernel)
        change("another kernel", [=](fb::RangeT &range) { range.sum_kernel = kernel; });
  }

  /// What instructions come after stays with their places.
  void swap(const EntryModel &model, size_t entry, size_t i, size_t j) {
    if (model.feeds(i, j))
      add("swap", entry, fmt::format("{} and {}", i, j), [=](fb::PlanT &plan) {
        auto &body = plan.entries[entry]->instructions;
        std::swap(body[i], body[j]);
        std::swap(body[i]->after, body[j]->after);
      });
  }

  /// Moves the smaller buffer to where the larger is in their arena.
  void overlap(uint32_t a, uint32_t b) {
    if (plan_.buffers[a]->bytes > plan_.buffers[b]->bytes)
      std::swap(a, b);
    if (plan_.buffers[a]->bytes > 0 && plan_.buffers[a]->arena == plan_.buffers[b]->arena)
      mutants_.push_back(
          {"overlap", fmt::format("overlap '{}' with '{}'", plan_.buffers[a]->name, plan_.buffers[b]->name),
           [=](fb::PlanT &plan) { plan.buffers[a]->offset = plan.buffers[b]->offset; }});
  }

  void overlapScratch(const EntryModel &model) {
    const std::map<uint32_t, Timeline> timelines = model.timelines();
    for (auto a = timelines.begin(); a != timelines.end(); ++a)
      for (auto b = std::next(a); b != timelines.end(); ++b)
        if (destroys(a->second, b->second) || destroys(b->second, a->second))
          overlap(a->first, b->first);
  }

  void overlapPersistent() {
    std::vector<uint32_t> buffers;
    for (uint32_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.arenas[plan_.buffers[i]->arena]->persistent)
        buffers.push_back(i);
    for (size_t i = 0; i < buffers.size(); ++i)
      for (size_t j = i + 1; j < buffers.size(); ++j)
        overlap(buffers[i], buffers[j]);
  }

  const fb::PlanT &plan_;
  std::vector<Mutant> mutants_;
};

} // namespace

std::vector<Mutant> mutants(const fb::PlanT &plan) { return Maker(plan).make(); }

} // namespace trainc::test
