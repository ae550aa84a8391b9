#include "lib/Analysis/InstructionUses.h"

using namespace mlir;

namespace trainc {

InstructionUses::InstructionUses(ModuleOp module)
    : context_(module), placesInShard_(context_.members(RankGroup::shard)) {}

SmallVector<InstructionUse> InstructionUses::of(plan::InstructionOpInterface instruction) const {
  SmallVector<InstructionUse> uses;
  for (const plan::OperandUse &use : instruction.getUses(context_)) {
    plan::BufferOp buffer = context_.buffer(use.operand);
    const int64_t begin = int64_t(buffer.getOffset()) + use.operand.getOffset(),
                  travel = (use.iterations - 1) * use.operand.getLoopStride();
    uses.push_back({buffer.getArenaAttr().getAttr(), begin + std::min<int64_t>(travel, 0),
                    begin + std::max<int64_t>(travel, 0) + use.bytes, use.operand.getRankStride(), use.reads,
                    use.writes});
  }
  return uses;
}

Span InstructionUses::hull(const InstructionUse &use) const {
  return {use.begin, use.end + (placesInShard_ - 1) * use.rankStep};
}

bool InstructionUses::conflict(const InstructionUse &a, const InstructionUse &b) const {
  if ((!a.writes && !b.writes) || a.arena != b.arena)
    return false;
  const int64_t travels = a.rankStep == b.rankStep ? 0 : placesInShard_ - 1;
  return a.begin < b.end + travels * b.rankStep && b.begin < a.end + travels * a.rankStep;
}

} // namespace trainc
