#include "plan/facts/outlasting.h"

#include "plan/facts/outlasting_reads.h"
#include "plan/facts/uses.h"

#include <algorithm>

namespace trainc {

namespace {

/// Whether the instruction copies from non-persistent device memory.
bool readsScratch(const fb::Plan &plan, const fb::Instruction &instruction) {
  const fb::Copy *copy = instruction.operation_as_Copy();
  if (!copy)
    return false;
  const fb::Arena &arena = *plan.arenas()->Get(plan.buffers()->Get(copy->source()->buffer())->arena());
  return !arena.persistent() && arena.space() == fb::Space::Device;
}

uint32_t arenaOf(const fb::Plan &plan, const facts::Use &use) {
  return plan.buffers()->Get(use.range.operand->buffer())->arena();
}

} // namespace

std::vector<uint32_t> outlastingCopies(const fb::Plan &plan, const fb::Entry &entry) {
  std::vector<uint32_t> copies;
  for (uint32_t i = entry.instructions()->size(); i-- > 0;) {
    const fb::Instruction &instruction = *entry.instructions()->Get(i);
    if (instruction.stream() != fb::Stream::Disk)
      continue;
    if (!readsScratch(plan, instruction))
      break;
    copies.push_back(i);
  }
  std::ranges::reverse(copies);
  return copies;
}

std::vector<TaskWait> outlastingWaits(const fb::Plan &plan, const fb::Entry &previous,
                                      const fb::Entry &entry) {
  OutlastingReads reads(plan.arenas()->size());
  for (const uint32_t copy : outlastingCopies(plan, previous))
    facts::forEachUse(plan, *previous.instructions()->Get(copy), 1, [&](const facts::Use &use) {
      if (use.reads)
        reads.addRead(copy, arenaOf(plan, use), hull(plan, use.range));
    });
  std::vector<TaskWait> waits;
  for (uint32_t i = 0; i < entry.instructions()->size(); ++i) {
    const fb::Instruction &instruction = *entry.instructions()->Get(i);
    if (instruction.stream() == fb::Stream::Disk)
      continue;
    facts::forEachUseInside(plan, instruction, [&](const fb::Instruction &, const facts::Use &use) {
      if (use.writes)
        reads.addWrite(arenaOf(plan, use), hull(plan, use.range));
    });
    if (const std::optional<uint32_t> copy = reads.takeWait())
      waits.push_back({i, *copy});
  }
  return waits;
}

} // namespace trainc
