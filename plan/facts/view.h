// Strings of a plan, and locations in it for messages.
#pragma once

#include "plan/schema/plan_generated.h"

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace trainc {

/// A view of a FlatBuffers string; empty if null.
inline std::string_view view(const flatbuffers::String *string) {
  return string ? std::string_view(string->data(), string->size()) : std::string_view();
}

/// The source op of an instruction and its location in the model: "head: nn.matmul at gpt.mlir:6".
inline std::string sourceText(const fb::Source &source) {
  std::string text(view(source.op()));
  return source.file() && source.line() ? fmt::format("{} at {}:{}", text, view(source.file()), source.line())
                                        : text;
}

/// "entry micro_step, instruction 812"; `index` is the index in the entry, or "LOOP.INDEX" in a loop.
inline std::string placeText(std::string_view entry, std::string_view index) {
  return fmt::format("entry {}, instruction {}", entry, index);
}

/// The same with the source op, if the plan has it: "entry micro_step, instruction 812 (h.3.attn:
/// dist.all_gather at gpt.mlir:12)".
inline std::string placeText(const fb::Plan &plan, std::string_view entry, std::string_view index,
                             const fb::Instruction &instruction) {
  std::string place = placeText(entry, index);
  if (instruction.source() >= plan.sources()->size())
    return place;
  return fmt::format("{} ({})", place, sourceText(*plan.sources()->Get(instruction.source())));
}

} // namespace trainc
