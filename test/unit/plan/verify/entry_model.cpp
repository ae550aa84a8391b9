#include "test/unit/plan/verify/entry_model.h"

#include "plan/facts/dtype.h"
#include "test/unit/plan/plans/library_bytes.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <algorithm>
#include <limits>

namespace trainc::test {

namespace {

bool conflict(const Touch &a, const Touch &b) {
  return a.arena == b.arena && a.begin < b.end && b.begin < a.end && (a.writes || b.writes);
}

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

} // namespace

bool destroys(const Timeline &b, const Timeline &a) {
  return std::ranges::any_of(
      b, [&](const Moment &moment) { return moment.writes && isNeededThrough(a, moment); });
}

EntryModel::EntryModel(const fb::PlanT &plan, const fb::EntryT &entry) : plan_(plan) {
  for (const auto &instruction : entry.instructions)
    add(*instruction, 1, touches_.emplace_back());
  for (size_t i = 0; i < touches_.size(); ++i)
    findFeeders(i);
}

bool EntryModel::meet(size_t i, size_t j) const {
  return std::ranges::any_of(touches_[i], [&](const Touch &a) {
    return std::ranges::any_of(touches_[j], [&](const Touch &b) { return conflict(a, b); });
  });
}

bool EntryModel::isMissed(size_t collective, const fb::RangeT &range) const {
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

bool EntryModel::isPadded(const fb::ZeroT &zero, uint64_t more) const {
  const fb::Operand &zeros = *zero.destination;
  const fb::BufferT &buffer = *plan_.buffers[zeros.buffer()];
  const uint64_t end = zeros.offset() + zero.bytes;
  if (plan_.arenas[buffer.arena]->persistent || zeros.rank_stride() != 0 || end + more > buffer.bytes)
    return false;
  const Touch later = touch(at(zeros.buffer(), end), more, 1, true);
  return std::ranges::none_of(touches_, [&](const std::vector<Touch> &touches) {
    return std::ranges::any_of(
        touches, [&](const Touch &each) { return each.buffer == later.buffer && conflict(each, later); });
  });
}

bool EntryModel::fitElsewhere(const fb::CollectiveT &collective, const fb::RangeT &a,
                              const fb::RangeT &b) const {
  const auto bytes = [&](const fb::RangeT &range) {
    const uint64_t parts =
        collective.kind == fb::CollectiveKind::ReduceScatter ? shapeOf(plan_, *collective.axes).members : 1;
    return range.elements / parts * elementBytes(range.widens ? fb::DType::F32 : range.dtype);
  };
  return a.dtype == b.dtype && a.widens == b.widens && bytes(a) <= rest(*b.destination) &&
         bytes(b) <= rest(*a.destination);
}

std::map<uint32_t, Timeline> EntryModel::timelines() const {
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

void EntryModel::findFeeders(size_t reader) {
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

void EntryModel::add(const fb::InstructionT &instruction, uint64_t iterations,
                     std::vector<Touch> &out) const {
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

/// Collectives' operands reach to the end of their buffers, or not much less far.
uint64_t EntryModel::rest(const fb::Operand &operand) const {
  return plan_.buffers[operand.buffer()]->bytes - operand.offset();
}

Touch EntryModel::touch(const fb::Operand &operand, uint64_t bytes, uint64_t iterations, bool writes) const {
  const fb::BufferT &buffer = *plan_.buffers[operand.buffer()];
  const int64_t begin = static_cast<int64_t>(buffer.offset + operand.offset());
  const int64_t travel = static_cast<int64_t>(iterations - 1) * operand.loop_stride();
  const auto shift =
      static_cast<int64_t>((shapeOf(plan_, operand.axes()).members - 1) * operand.rank_stride());
  return {operand.buffer(), buffer.arena, begin + std::min<int64_t>(travel, 0),
          begin + std::max<int64_t>(travel, 0) + shift + static_cast<int64_t>(bytes), writes};
}

} // namespace trainc::test
