// cp.async: bytes of global memory arrive in shared memory as late as allowed, when they are waited for.
#include "test/emulator/ptx/access.h"
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"

#include <bit>

namespace trainc::emulator {

namespace {

/// reads: destination, source, and optionally the number of bytes read; the rest is zero.
void begin(const Instruction &instruction, Warp &warp) {
  for (uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const uint64_t to = addressOf(instruction, warp, lane);
    const uint64_t from = warp.lane(instruction.reads[1], lane) + instruction.detail;
    const uint64_t count =
        instruction.reads.size() > 2 ? warp.lane(instruction.reads[2], lane) : instruction.bytes;
    if (count > instruction.bytes)
      return warp.fail(lane, fmt::format("reads {} bytes to write {}", count, instruction.bytes));
    // A shorter copy must be aligned like a whole one, and is checked bytewise.
    if (from % instruction.bytes != 0)
      return warp.fail(lane, fmt::format("reads {} bytes at {:#x}, which is not a multiple of it",
                                         instruction.bytes, from));
    for (uint64_t byte = 0; byte < count; byte += count == instruction.bytes ? count : 1)
      if (!accessed(warp, lane, Space::kGlobal, from + byte,
                    count == instruction.bytes ? instruction.bytes : 1, Access::kRead)
               .bytes)
        return;
    if (!beginAsyncWrite(warp, lane, to, instruction.bytes).bytes)
      return;
    warp.asyncCopies(lane).back().push_back(
        {static_cast<uint32_t>(to), from, instruction.bytes, static_cast<uint32_t>(count), warp.position()});
  }
}

void finish(const AsyncCopy &copy, Warp &warp, unsigned lane) {
  warp.blame(copy.instruction);
  std::byte *const to = warp.block().shared(copy.destination, copy.bytes).bytes;
  std::memset(to, 0, copy.bytes);
  for (uint32_t byte = 0; byte < copy.sourceBytes && !warp.failed(); ++byte) {
    const Place from = accessed(warp, lane, Space::kGlobal, copy.source + byte, 1, Access::kRead);
    if (from.bytes)
      to[byte] = *from.bytes;
  }
  if (!warp.failed())
    endAsyncWrite(warp, lane, copy.destination, copy.bytes);
}

void commit(const Instruction &, Warp &warp) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((warp.active >> lane & 1) != 0)
      warp.asyncCopies(lane).emplace_back();
}

/// Completes the oldest groups, so that `detail` committed groups are left; all, including the open one, if
/// it is the maximum.
void wait(const Instruction &instruction, Warp &warp) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((warp.active >> lane & 1) == 0)
      continue;
    auto &groups = warp.asyncCopies(lane);
    const bool isAll = instruction.detail == UINT64_MAX;
    if (isAll)
      groups.emplace_back();
    while (groups.size() > (isAll ? 1 : instruction.detail + 1) && !warp.failed()) {
      for (const AsyncCopy &copy : groups.front())
        if (!warp.failed())
          finish(copy, warp, lane);
      groups.pop_front();
    }
  }
  if (!warp.failed())
    warp.blameNone();
}

void decodeAsyncCopy(Decoding &decoding) {
  if (!decoding.take("async"))
    return decoding.fail("the emulator knows cp.async alone");
  if (decoding.take("commit_group")) {
    decoding.expectOperands(0, 0);
    decoding.instruction.execute = commit;
    return;
  }
  if (decoding.take("wait_group")) {
    decoding.expectOperands(1, 1);
    decoding.instruction.detail = decoding.number(0);
    decoding.instruction.execute = wait;
    return;
  }
  if (decoding.take("wait_all")) {
    decoding.instruction.detail = UINT64_MAX;
    decoding.instruction.execute = wait;
    return;
  }
  decoding.takeOneOf({"ca", "cg"});
  decoding.takeBeginningWith("L2::");
  const bool toShared =
      decoding.take("shared") || decoding.take("shared::cta") || decoding.take("shared::cluster");
  if (!toShared || !decoding.take("global"))
    decoding.fail("expected .shared.global");
  decoding.expectOperands(3, 4);
  decoding.readAddress(0);
  const int64_t displacement = decoding.instruction.displacement;
  decoding.instruction.displacement = 0;
  decoding.readAddress(1);
  decoding.instruction.detail = static_cast<uint64_t>(decoding.instruction.displacement);
  decoding.instruction.displacement = displacement;
  const uint64_t bytes = decoding.number(2);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    decoding.fail("copies 4, 8 or 16 bytes, found {}", bytes);
  decoding.instruction.bytes = static_cast<uint32_t>(bytes);
  if (decoding.operands() == 4)
    decoding.read(3, {Type::Kind::kUnsigned, 32});
  decoding.instruction.execute = begin;
}

} // namespace

void addAsyncCopyDecoders(Decoders &decoders) { decoders["cp"] = decodeAsyncCopy; }

} // namespace trainc::emulator
