// That what an instruction reads is what was written for it: every byte read through a buffer was last
// written, in the same entry, through that buffer. Bytes of the persistent arena may instead be as the entry
// found them, and batch columns as the host left them; the scratch arena holds nothing at an entry's start.
//
// Addresses depend on the rank, so an entry is walked for several places in a shard group: all of few, and of
// many the first two and the last, as addresses are linear in the place. Within a loop the operands' hulls
// over all iterations are taken.
#include "runtime/plan/dtype.h"
#include "runtime/plan/place.h"
#include "runtime/plan/uses.h"
#include "runtime/plan/verify.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

namespace trainc::verify {

namespace {

constexpr uint32_t kAllPlaces = 8;

/// Who wrote the bytes of one arena last.
class Writers {
public:
  struct Piece {
    int64_t end;
    uint32_t buffer;
  };

  void write(Span span, uint32_t buffer) {
    if (span.begin == span.end)
      return;
    split(span.begin);
    split(span.end);
    pieces_.erase(pieces_.lower_bound(span.begin), pieces_.lower_bound(span.end));
    pieces_[span.begin] = {span.end, buffer};
  }

  /// Calls `visit(buffer)` for each piece of the span, with nothing where nobody has written.
  template <typename Visitor> void forEach(Span span, Visitor visit) const {
    int64_t position = span.begin;
    for (auto piece = firstFrom(position); position < span.end; ++piece) {
      const bool written = piece != pieces_.end() && piece->first < span.end;
      if (!written || piece->first > position)
        visit(std::optional<uint32_t>());
      if (!written)
        return;
      visit(std::optional(piece->second.buffer));
      position = piece->second.end;
    }
  }

private:
  /// The first piece that ends after `position`.
  std::map<int64_t, Piece>::const_iterator firstFrom(int64_t position) const {
    auto piece = pieces_.upper_bound(position);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > position)
      --piece;
    return piece;
  }

  /// Makes `position` a border.
  void split(int64_t position) {
    auto piece = pieces_.upper_bound(position);
    if (piece == pieces_.begin() || std::prev(piece)->second.end <= position)
      return;
    --piece;
    if (piece->first == position)
      return;
    pieces_[position] = piece->second;
    piece->second.end = position;
  }

  std::map<int64_t, Piece> pieces_; ///< by their first byte
};

class Flow {
public:
  Flow(const fb::Plan &plan, const fb::Entry &entry, uint32_t place)
      : plan_(plan), entry_(entry), place_(place), writers_(plan.arenas()->size()), started_(plan.slots()) {}

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
    writers_[buffer.arena()].write({begin, begin + static_cast<int64_t>(buffer.bytes())}, input.buffer());
  }

  Status step(const fb::Instruction &instruction, uint64_t iterations) {
    if (const fb::Wait *wait = instruction.operation_as_Wait()) {
      write(started_[wait->slot()]);
      return {};
    }
    Status status;
    forEachUse(plan_, instruction, iterations, [&](const Use &use) {
      if (use.reads && status.ok())
        status = read(instruction, use);
    });
    forEachUse(plan_, instruction, iterations, [&](const Use &use) {
      if (const fb::Start *start = instruction.operation_as_Start(); start && use.writes)
        started_[start->slot()] = use.range;
      else if (use.writes)
        write(use.range);
    });
    return status;
  }

  void write(const Range &range) {
    const uint32_t buffer = range.operand->buffer();
    writers_[plan_.buffers()->Get(buffer)->arena()].write(spanAt(plan_, range, place_), buffer);
  }

  Status read(const fb::Instruction &instruction, const Use &use) const {
    const uint32_t buffer = use.range.operand->buffer(), arena = plan_.buffers()->Get(buffer)->arena();
    const bool persistent = view(plan_.arenas()->Get(arena)->name()) == "persistent";
    Status status;
    writers_[arena].forEach(spanAt(plan_, use.range, place_), [&](std::optional<uint32_t> writer) {
      if (!status.ok() || writer == buffer || (!writer && persistent))
        return;
      const std::string found =
          writer ? fmt::format("some that '{}' has overwritten", view(plan_.buffers()->Get(*writer)->name()))
                 : "some that nothing in the entry has written before";
      status = invalidInput("{}: expected bytes written as '{}', found {}", nameOf(plan_, instruction, use),
                            view(plan_.buffers()->Get(buffer)->name()), found);
    });
    return status;
  }

  const fb::Plan &plan_;
  const fb::Entry &entry_;
  uint32_t place_;
  std::vector<Writers> writers_; ///< by arena
  std::vector<Range> started_;   ///< by slot: the destination of the collective in flight
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
