// Faults in copies between the device's memory and others.
#include "test/unit/plan/verify/entry_model.h"
#include "test/unit/plan/verify/plan_mutants.h"

#include "plan/schema/limits.h"
#include "test/unit/plan/plans/plan_builder.h"

#include <fmt/format.h>
#include <memory>
#include <set>

namespace trainc::test {

namespace {

/// Errors of sizes and offsets in bytes: an element, the memory alignment, a disk block.
constexpr int64_t kOff[] = {4, 64, int64_t(kDiskAlignment)};

class CopyMaker {
public:
  explicit CopyMaker(const fb::PlanT &plan) : plan_(plan) {}

  std::vector<Mutant> make() {
    for (size_t entry = 0; entry < plan_.entries.size(); ++entry) {
      const EntryModel model(plan_, *plan_.entries[entry]);
      for (size_t i = 0; i < plan_.entries[entry]->instructions.size(); ++i)
        if (const fb::CopyT *copy = copyAt(entry, i)) {
          resize(entry, i, *copy);
          replace(entry, i, "source", &fb::CopyT::source);
          replace(entry, i, "destination", &fb::CopyT::destination);
          move(entry, i, "source", &fb::CopyT::source);
          move(entry, i, "destination", &fb::CopyT::destination);
        }
      reorder(model, entry);
    }
    for (uint32_t buffer = 0; buffer < plan_.buffers.size(); ++buffer)
      misstate(buffer);
    return std::move(mutants_);
  }

private:
  using Side = std::unique_ptr<fb::Operand> fb::CopyT::*;

  /// The copy between spaces that an instruction is.
  const fb::CopyT *copyAt(size_t entry, size_t i) const {
    const fb::InstructionT &instruction = *plan_.entries[entry]->instructions[i];
    return instruction.stream == fb::Stream::Compute ? nullptr : instruction.operation.AsCopy();
  }
  void add(const char *kind, size_t entry, const std::string &what, std::function<void(fb::PlanT &)> apply) {
    mutants_.push_back(
        {kind, fmt::format("entry {}: {} {}", plan_.entries[entry]->name, kind, what), std::move(apply)});
  }
  void change(size_t entry, size_t i, const std::string &what, std::function<void(fb::CopyT &)> apply) {
    add("copy", entry, fmt::format("{}: {}", i, what),
        [=](fb::PlanT &plan) { apply(*plan.entries[entry]->instructions[i]->operation.AsCopy()); });
  }

  /// One of no bytes is left out, with all that comes after it in its place.
  void resize(size_t entry, size_t i, const fb::CopyT &copy) {
    std::set<uint64_t> others = {0, copy.bytes / 2, 2 * copy.bytes};
    for (const int64_t off : kOff) {
      others.insert(copy.bytes + uint64_t(off));
      if (copy.bytes > uint64_t(off))
        others.insert(copy.bytes - uint64_t(off));
    }
    others.erase(copy.bytes);
    for (const uint64_t bytes : others)
      change(entry, i, fmt::format("{} bytes", bytes), [=](fb::CopyT &changed) { changed.bytes = bytes; });
  }

  void move(size_t entry, size_t i, const char *name, Side side) {
    const fb::CopyT &copy = *copyAt(entry, i);
    const fb::Operand &old = *(copy.*side);
    const auto moveTo = [&](uint64_t offset, uint64_t rankStride) {
      if (offset != old.offset() || rankStride != old.rank_stride())
        change(entry, i, fmt::format("{} at {} + rank*{}", name, offset, rankStride),
               [=](fb::CopyT &changed) {
                 fb::Operand &operand = *(changed.*side);
                 operand = at(operand.buffer(), offset, operand.loop_stride(), rankStride);
               });
    };
    std::set<uint64_t> offsets = {0, old.offset() + copy.bytes};
    for (const int64_t off : kOff) {
      offsets.insert(old.offset() + uint64_t(off));
      if (old.offset() >= uint64_t(off))
        offsets.insert(old.offset() - uint64_t(off));
    }
    for (const uint64_t offset : offsets)
      moveTo(offset, old.rank_stride());
    if (plan_.ranks > 1)
      for (const uint64_t stride : {uint64_t{0}, uint64_t{kDiskAlignment}, copy.bytes})
        moveTo(old.offset(), stride);
  }

  /// Redirects one side of a copy to another buffer of the same size: on the farther side to another state,
  /// or to a piece at the same offset of it.
  void replace(size_t entry, size_t i, const char *name, Side side) {
    const fb::Operand &old = *(copyAt(entry, i)->*side);
    const fb::BufferT &replaced = *plan_.buffers[old.buffer()];
    const bool isOffloaded = plan_.arenas[replaced.arena]->space != fb::Space::Device;
    for (uint32_t other = 0; other < plan_.buffers.size(); ++other)
      if (const fb::BufferT &by = *plan_.buffers[other];
          other != old.buffer() && by.arena == replaced.arena && by.bytes == replaced.bytes)
        add(isOffloaded ? "state" : "buffer", entry, fmt::format("{}: {} is '{}'", i, name, by.name),
            [=](fb::PlanT &plan) {
              fb::Operand &operand = *(plan.entries[entry]->instructions[i]->operation.AsCopy()->*side);
              operand = fb::Operand(operand.offset(), operand.loop_stride(), operand.rank_stride(), other,
                                    operand.axes());
            });
  }

  /// Has a buffer say nothing of a place, or another one: off by some bytes, or in another buffer.
  void misstate(uint32_t buffer) {
    const fb::BufferT &table = *plan_.buffers[buffer];
    if (table.fetched) {
      say(buffer, "fetched: none", [](fb::BufferT &changed) { changed.fetched.reset(); });
      for (const fb::Operand &other : otherPlaces(*table.fetched))
        say(buffer, "fetched: " + textOf(other), [=](fb::BufferT &changed) { *changed.fetched = other; });
    }
    for (size_t i = 0; i < table.stored.size(); ++i) {
      say(buffer, fmt::format("stored {}: none", i),
          [=](fb::BufferT &changed) { changed.stored.erase(changed.stored.begin() + ptrdiff_t(i)); });
      for (const fb::Operand &other : otherPlaces(table.stored[i]))
        say(buffer, fmt::format("stored {}: {}", i, textOf(other)),
            [=](fb::BufferT &changed) { changed.stored[i] = other; });
    }
  }

  void say(uint32_t buffer, const std::string &what, std::function<void(fb::BufferT &)> apply) {
    mutants_.push_back({"says", fmt::format("buffer {}: {}", plan_.buffers[buffer]->name, what),
                        [=](fb::PlanT &plan) { apply(*plan.buffers[buffer]); }});
  }

  std::string textOf(const fb::Operand &place) const {
    return fmt::format("'{}' at {}", plan_.buffers[place.buffer()]->name, place.offset());
  }

  std::vector<fb::Operand> otherPlaces(const fb::Operand &place) const {
    std::vector<fb::Operand> others;
    const auto add = [&](uint64_t offset, uint32_t buffer) {
      others.emplace_back(offset, place.loop_stride(), place.rank_stride(), buffer, place.axes());
    };
    for (const int64_t off : kOff)
      add(place.offset() + uint64_t(off), place.buffer());
    for (uint32_t other = 0; other < plan_.buffers.size(); ++other)
      if (other != place.buffer() && plan_.buffers[other]->bytes == plan_.buffers[place.buffer()]->bytes)
        add(place.offset(), other);
    return others;
  }

  /// Exchanges a copy with an instruction that accesses the same bytes. Dependencies stay with the positions.
  void reorder(const EntryModel &model, size_t entry) {
    const size_t count = plan_.entries[entry]->instructions.size();
    for (size_t i = 0; i < count; ++i)
      for (size_t j = i + 1; j < count; ++j)
        if ((copyAt(entry, i) || copyAt(entry, j)) && model.meet(i, j))
          add("reorder", entry, fmt::format("{} and {}", i, j),
              [=](fb::PlanT &plan) { exchange(*plan.entries[entry], i, j); });
  }

  static void exchange(fb::EntryT &entry, size_t i, size_t j) {
    std::swap(entry.instructions[i], entry.instructions[j]);
    std::swap(entry.instructions[i]->after, entry.instructions[j]->after);
  }

  const fb::PlanT &plan_;
  std::vector<Mutant> mutants_;
};

} // namespace

std::vector<Mutant> copyMutants(const fb::PlanT &plan) { return CopyMaker(plan).make(); }

} // namespace trainc::test
