#include "lib/Analysis/Outlasting.h"

#include "plan/facts/outlasting_reads.h"

using namespace mlir;

namespace trainc {

static auto instructionsOf(plan::EntryOp entry) {
  return llvm::to_vector(entry.getBody().getOps<plan::InstructionOpInterface>());
}

/// Whether the instruction copies from scratch memory of the device.
static bool readsScratch(plan::InstructionOpInterface instruction, const plan::ModuleContext &context) {
  auto copy = dyn_cast<plan::CopyOp>(*instruction);
  if (!copy)
    return false;
  auto arena = context.symbols().lookup<plan::ArenaOp>(context.buffer(copy.getSource()).getArena());
  return arena && !arena.getPersistent() && arena.getSpace() == plan::Space::device;
}

SmallVector<uint32_t> outlastingCopies(plan::EntryOp entry, const plan::ModuleContext &context) {
  SmallVector<uint32_t> copies;
  auto instructions = instructionsOf(entry);
  for (auto i = uint32_t(instructions.size()); i-- > 0;) {
    if (instructions[i].getStream() != plan::Stream::disk)
      continue;
    if (!readsScratch(instructions[i], context))
      break;
    copies.push_back(i);
  }
  std::reverse(copies.begin(), copies.end());
  return copies;
}

std::vector<TaskWait> outlastingWaits(plan::EntryOp previous, plan::EntryOp entry,
                                      const InstructionUses &uses) {
  llvm::DenseMap<Attribute, size_t> arenas;
  for (auto arena : entry->getParentOfType<ModuleOp>().getOps<plan::ArenaOp>())
    arenas.try_emplace(arena.getSymNameAttr(), arenas.size());
  OutlastingReads reads(arenas.size());
  auto before = instructionsOf(previous), own = instructionsOf(entry);
  for (const uint32_t copy : outlastingCopies(previous, uses.context()))
    for (const InstructionUse &use : uses.of(before[copy]))
      if (use.reads)
        reads.addRead(copy, arenas.at(use.arena), uses.hull(use));
  std::vector<TaskWait> waits;
  for (uint32_t number = 0; number < own.size(); ++number) {
    plan::InstructionOpInterface instruction = own[number];
    if (instruction.getStream() == plan::Stream::disk)
      continue;
    for (const InstructionUse &use : uses.of(instruction))
      if (use.writes)
        reads.addWrite(arenas.at(use.arena), uses.hull(use));
    if (const std::optional<uint32_t> copy = reads.takeWait())
      waits.push_back({number, *copy});
  }
  return waits;
}

} // namespace trainc
