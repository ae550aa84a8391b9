// The instructions of an entry, with those in loops.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc::facts {

/// Calls `visit(instruction, iterations)` for an instruction other than a loop, or for each instruction in a
/// loop's body.
template <typename Visitor>
void forEachInside(const fb::Instruction &instruction, Visitor &&visit, uint64_t iterations = 1) {
  const fb::Loop *loop = instruction.operation_as_Loop();
  if (!loop) {
    visit(instruction, iterations);
    return;
  }
  for (const fb::Instruction *inner : *loop->body())
    forEachInside(*inner, visit, iterations * loop->count());
}

} // namespace trainc::facts
