#include "plan/facts/gathered_window.h"

#include "plan/facts/accesses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace trainc {

namespace {

/// Positions in an entry from a gather to the last use of its destination.
struct GatheredSpan {
  uint32_t first, last;
  uint64_t bytes;
};

using GatheredSpans = std::map<uint32_t, GatheredSpan>; // by buffer

/// Tracks gathers of parameters, instruction by instruction.
class Gathers {
public:
  explicit Gathers(const fb::Plan &plan) : plan_(plan) {}

  void visit(const fb::Instruction &instruction, uint32_t position) {
    const std::vector<facts::Access> accesses = facts::accessesOf(plan_, instruction);
    if (const fb::Collective *collective = instruction.operation_as_Collective())
      gather(*collective, position);
    else
      noteCasts(accesses);
    for (const facts::Access &access : accesses)
      if (const auto found = spans_.find(access.buffer); found != spans_.end())
        found->second.last = position;
  }

  /// Spans of gathers into scratch memory.
  const GatheredSpans &spans() const { return spans_; }

private:
  const fb::Buffer &buffer(uint32_t index) const { return *plan_.buffers()->Get(index); }

  bool holdsParameters(uint32_t index) const {
    return buffer(index).role() == fb::Role::Parameter || casts_.contains(index);
  }

  void gather(const fb::Collective &collective, uint32_t position) {
    if (collective.kind() != fb::CollectiveKind::AllGather)
      return;
    for (const fb::Range *range : *collective.ranges()) {
      const uint32_t index = range->destination()->buffer();
      if (holdsParameters(range->source()->buffer()) &&
          !plan_.arenas()->Get(buffer(index).arena())->persistent())
        spans_.insert({index, {position, position, buffer(index).bytes()}});
    }
  }

  /// Notes values that are computed from a rank's shard of parameters alone: casts of these parameters.
  void noteCasts(const std::vector<facts::Access> &accesses) {
    const auto readsParameters = [&](const facts::Access &access) {
      return access.writes || holdsParameters(access.buffer);
    };
    if (std::ranges::all_of(accesses, &facts::Access::writes) ||
        !std::ranges::all_of(accesses, readsParameters))
      return;
    for (const facts::Access &access : accesses)
      if (access.writes)
        casts_.insert(access.buffer);
  }

  const fb::Plan &plan_;
  GatheredSpans spans_;
  std::set<uint32_t> casts_; ///< buffers
};

uint64_t maxAtOnce(const GatheredSpans &spans) {
  std::vector<std::pair<uint32_t, int64_t>> changes; // position, and change of bytes
  for (const auto &[buffer, span] : spans) {
    changes.push_back({span.first, static_cast<int64_t>(span.bytes)});
    changes.push_back({span.last + 1, -static_cast<int64_t>(span.bytes)});
  }
  std::ranges::sort(changes); // at equal positions, ends sort before begins
  int64_t maximum = 0, bytes = 0;
  for (const auto &[position, change] : changes)
    maximum = std::max(maximum, bytes += change);
  return static_cast<uint64_t>(maximum);
}

} // namespace

uint64_t gatheredWindow(const fb::Plan &plan) {
  uint64_t maximum = 0;
  for (const fb::Entry *entry : *plan.entries()) {
    Gathers gathers(plan);
    for (uint32_t i = 0; i < entry->instructions()->size(); ++i)
      gathers.visit(*entry->instructions()->Get(i), i);
    maximum = std::max(maximum, maxAtOnce(gathers.spans()));
  }
  return maximum;
}

} // namespace trainc
