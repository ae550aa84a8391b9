// Memory access of instructions: every access of a lane is checked as compute-sanitizer would.
#pragma once

#include "test/emulator/ptx/block.h"

#include <cstdint>

namespace trainc::emulator {

enum class Access : uint8_t {
  kRead,
  kWrite,
  kStrongRead, ///< relaxed, acquire or volatile: races only with plain writes
  kAtomic,     ///< reads and writes at once
  kStrongWrite,
};

/// The bytes of a lane's access; marked as written if it writes. Empty after a fault, which fails the warp.
Place accessed(Warp &warp, unsigned lane, Space space, uint64_t address, unsigned bytes, Access access);

/// The address in reads[0] of an instruction.
inline uint64_t addressOf(const Instruction &instruction, Warp &warp, unsigned lane) {
  const Slot &base = instruction.reads[0];
  return (base.bits == 64 ? warp.at<uint64_t>(base)[lane] : warp.at<uint32_t>(base)[lane]) +
         static_cast<uint64_t>(instruction.displacement);
}

// cp.async: bytes of shared memory that are written asynchronously.
/// Null if they may not be written now.
Place beginAsyncWrite(Warp &warp, unsigned lane, uint64_t address, unsigned bytes);
void endAsyncWrite(Warp &warp, unsigned lane, uint64_t address, unsigned bytes);

} // namespace trainc::emulator
