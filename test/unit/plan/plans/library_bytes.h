// Bytes that library calls access, computed independently of runtime/plan to test the verifier.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc::test {

/// One operand: runs of `bytes`, at these distances from where the operand lies.
struct LibraryUse {
  fb::Operand *operand;
  bool reads, writes;
  uint64_t bytes;
  std::vector<uint64_t> begins;

  /// From the first byte to the last.
  uint64_t extent() const { return begins.back() + bytes; }
};

/// The operands of a library call that it has; none of other instructions.
std::vector<LibraryUse> libraryUses(const fb::InstructionT &instruction);

} // namespace trainc::test
