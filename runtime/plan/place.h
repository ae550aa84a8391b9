// Where in a plan something happened, for messages.
#pragma once

#include "runtime/plan/view.h"

#include <string>

namespace trainc {

/// "entry micro_step, instruction 812"; `index` is that in the entry, in a loop "LOOP.INDEX".
inline std::string placeText(std::string_view entry, std::string_view index) {
  return fmt::format("entry {}, instruction {}", entry, index);
}

/// The same with the op that the instruction came from, where the plan has it: "entry micro_step, instruction
/// 812 (h.3.attn: dist.all_gather at gpt.mlir:12)".
inline std::string placeText(const fb::Plan &plan, std::string_view entry, std::string_view index,
                             const fb::Instruction &instruction) {
  std::string place = placeText(entry, index);
  if (instruction.source() >= plan.sources()->size())
    return place;
  return fmt::format("{} ({})", place, sourceText(*plan.sources()->Get(instruction.source())));
}

} // namespace trainc
