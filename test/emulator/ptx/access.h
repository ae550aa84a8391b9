// The one way of instructions to memory: each access of a lane is checked as compute-sanitizer would.
#pragma once

#include "test/emulator/ptx/block.h"

#include <cstdint>

namespace trainc::emulator {

enum class Access : uint8_t {
  kRead,
  kWrite,
  kStrongRead, ///< relaxed, acquire or volatile: races with plain writes alone
  kAtomic,     ///< reads and writes at once
  kStrongWrite,
};

/// The bytes of a lane's access, which count as written from now on if it writes. No bytes: the warp failed.
Place accessed(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes, Access access);

/// The address that an instruction has in reads[0].
inline uint64_t addressOf(const Instruction &instruction, Warp &warp, unsigned lane) {
  const Slot &base = instruction.reads[0];
  return (base.bits == 64 ? warp.at<uint64_t>(base)[lane] : warp.at<uint32_t>(base)[lane]) +
         static_cast<uint64_t>(instruction.displacement);
}

// cp.async: bytes of shared memory that are on their way.
/// Null if they may not be written now.
Place beginAsyncWrite(Warp &warp, unsigned lane, uint64_t address, unsigned bytes);
void endAsyncWrite(Warp &warp, unsigned lane, uint64_t address, unsigned bytes);

} // namespace trainc::emulator
