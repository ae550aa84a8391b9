#include "tools/report/proofs.h"

#include "plan/facts/uses.h"
#include "tools/report/stream_order.h"

namespace trainc::report {

namespace {

struct Counts {
  uint64_t instructions = 0, operands = 0, reads = 0, collectives = 0, pairs = 0, waits = 0, loops = 0;
};

void countOperands(const fb::Plan &plan, const fb::Instruction &instruction, Counts &counts) {
  facts::forEachUseInside(plan, instruction, [&](const fb::Instruction &, const facts::Use &use) {
    if (use.range.shift > 0) // another row of the same operand
      return;
    ++counts.operands;
    counts.reads += use.reads ? 1 : 0;
  });
}

Counts count(const fb::Plan &plan) {
  Counts counts;
  for (const fb::Entry *entry : *plan.entries()) {
    const StreamOrder order = orderOf(*entry);
    counts.pairs += order.pairs;
    counts.waits += order.waits;
    for (const fb::Instruction *instruction : *entry->instructions()) {
      ++counts.instructions;
      counts.collectives += instruction->operation_type() == fb::Operation::Collective ? 1 : 0;
      if (const fb::Loop *loop = instruction->operation_as_Loop()) {
        ++counts.loops;
        counts.instructions += loop->body()->size();
      }
      countOperands(plan, *instruction, counts);
    }
  }
  return counts;
}

} // namespace

std::vector<Proof> proofsOf(const fb::Plan &plan) {
  const Counts counts = count(plan);
  std::vector<Proof> proofs = {
      {plan.buffers()->size(), "buffers",
       fmt::format("lie within their {} arenas, which are no larger than they need; those that live across "
                   "entries share no byte",
                   plan.arenas()->size())},
      {counts.operands, "operands", "stay within their buffers, in every iteration, on every rank"},
      {counts.reads, "reads",
       "find what was written for them: no value is overwritten while it is needed, in loops and on all "
       "ranks"},
      {plan.kernels()->size(), "kernels", "are in the plan's code, whose checksum is right"},
      {plan.states()->size(), "states", "have the bytes that checkpoints read and write"},
  };
  if (counts.pairs > 0)
    proofs.push_back({counts.pairs, "pairs of instructions",
                      "may run at the same time, and share no byte that one of them writes"});
  if (counts.waits > 0)
    proofs.push_back({counts.waits, "waits", "between streams: each is needed, none is missing"});
  if (counts.collectives > 0)
    proofs.push_back({counts.collectives, "collectives",
                      fmt::format("are issued in the same order on all {} ranks", plan.ranks())});
  if (counts.loops > 0)
    proofs.push_back({counts.loops, "loops", "are followed through all their iterations, byte by byte"});
  return proofs;
}

} // namespace trainc::report
