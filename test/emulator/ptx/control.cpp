// Branches, ends, barriers and fences.
#include "test/emulator/ptx/block.h"
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"

#include <initializer_list>

namespace trainc::emulator {

namespace {

void nothing(const Instruction &, Warp &) {}

/// bar.warp.sync: the only instruction that orders accesses between lanes of a warp.
void synchroniseLanes(const Instruction &, Warp &warp) {
  warp.block().launch().order.meetLanes(warp.index(), warp.active | ~warp.existing());
}

/// The name of a label or a table.
const std::string &nameOf(Decoding &decoding, size_t index) {
  const Operand &operand = decoding.operand(index);
  if (operand.kind != Operand::Kind::kName || decoding.resolver().isRegister(operand))
    decoding.fail("expected a label");
  return operand.name;
}

void decodeBranch(Decoding &decoding) {
  decoding.take("uni");
  decoding.expectOperands(1, 1);
  decoding.instruction.flow = Flow::kBranch;
  decoding.labels = {nameOf(decoding, 0)};
}

void decodeBranchIndexed(Decoding &decoding) {
  decoding.take("uni");
  if (!decoding.take("idx"))
    decoding.fail("expected .idx");
  decoding.expectOperands(2, 2);
  decoding.read(0, {Type::Kind::kUnsigned, 32});
  decoding.instruction.flow = Flow::kBranchIndexed;
  const std::string &name = nameOf(decoding, 1);
  if (const std::vector<std::string> *const targets = decoding.resolver().branchTargets(name))
    decoding.labels = *targets;
  else
    decoding.fail("no .branchtargets are called '{}'", name);
}

/// The assembler sets the target of `ret`.
void decodeReturn(Decoding &decoding) {
  decoding.take("uni");
  decoding.expectOperands(0, 0);
  decoding.instruction.flow = Flow::kBranch;
}

template <Flow Ends> void decodeEnd(Decoding &decoding) {
  decoding.expectOperands(0, 0);
  decoding.instruction.flow = Ends;
}

void decodeBarrier(Decoding &decoding) {
  if (decoding.take("warp")) {
    if (!decoding.take("sync"))
      decoding.fail("expected .sync");
    decoding.expectOperands(1, 1);
    decoding.read(0, {Type::Kind::kBits, 32});
    decoding.instruction.members = 0;
    decoding.instruction.flow = Flow::kCollective;
    decoding.instruction.execute = synchroniseLanes;
    return;
  }
  decoding.take("cta");
  decoding.take("aligned");
  const bool arrives = decoding.take("arrive");
  if (!arrives && !decoding.take("sync"))
    decoding.fail("the emulator knows .sync and .arrive alone");
  decoding.expectOperands(arrives ? 2 : 1, 2);
  for (size_t index = 0; index < decoding.operands(); ++index)
    decoding.read(index, {Type::Kind::kUnsigned, 32});
  decoding.instruction.flow = arrives ? Flow::kBarrierArrive : Flow::kBarrier;
}

/// Accesses take effect in sequence, so a fence waits for nothing. Whether other threads may rely on it is
/// decided by race detection, which considers only barriers.
void decodeFence(Decoding &decoding) {
  decoding.takeOneOf({"sc", "acq_rel", "acquire", "release", "proxy"});
  decoding.takeOneOf({"gl", "cta", "cluster", "gpu", "sys", "async", "alias"});
  decoding.instruction.execute = nothing;
  decoding.expectOperands(0, 0);
}

/// Decodes waits and hints, which change no result, with their modifiers.
void decodeHint(Decoding &decoding) {
  for (const std::string &modifier : decoding.statement().modifiers)
    decoding.take(modifier);
  decoding.instruction.execute = nothing;
}

} // namespace

void addControlDecoders(Decoders &decoders) {
  decoders["bra"] = decodeBranch;
  decoders["brx"] = decodeBranchIndexed;
  decoders["ret"] = decodeReturn;
  decoders["exit"] = decodeEnd<Flow::kExit>;
  decoders["trap"] = decodeEnd<Flow::kTrap>;
  decoders["bar"] = decodeBarrier;
  decoders["barrier"] = decodeBarrier;
  decoders["membar"] = decodeFence;
  decoders["fence"] = decodeFence;
  for (const char *const hint : {"nanosleep", "prefetch", "prefetchu", "griddepcontrol"})
    decoders[hint] = decodeHint;
}

} // namespace trainc::emulator
