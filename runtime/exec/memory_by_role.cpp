#include "runtime/exec/memory_by_role.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trainc {

namespace {

using Interval = std::pair<uint64_t, uint64_t>; // [begin, end) of an arena

/// Size of the union of `intervals`.
uint64_t coveredBytes(std::vector<Interval> intervals) {
  std::ranges::sort(intervals);
  uint64_t bytes = 0, end = 0;
  for (const Interval &interval : intervals) {
    if (interval.second <= end)
      continue;
    bytes += interval.second - std::max(interval.first, end);
    end = interval.second;
  }
  return bytes;
}

void addArena(const fb::Plan &plan, uint32_t arena, std::array<uint64_t, 7> &roles) {
  std::vector<Interval> intervals;
  uint64_t covered = 0;
  for (size_t role = 0; role < roles.size(); ++role) {
    for (const fb::Buffer *buffer : *plan.buffers())
      if (buffer->arena() == arena && static_cast<size_t>(buffer->role()) == role)
        intervals.emplace_back(buffer->offset(), buffer->offset() + buffer->bytes());
    const uint64_t now = coveredBytes(intervals);
    roles[role] += now - covered;
    covered = now;
  }
  roles[static_cast<size_t>(fb::Role::Workspace)] += plan.arenas()->Get(arena)->bytes() - covered;
}

} // namespace

std::array<uint64_t, 7> memoryByRole(const fb::Plan &plan) {
  std::array<uint64_t, 7> roles{};
  for (uint32_t arena = 0; arena < plan.arenas()->size(); ++arena)
    if (plan.arenas()->Get(arena)->space() != fb::Space::Disk)
      addArena(plan, arena, roles);
  return roles;
}

} // namespace trainc
