// Strings of a plan.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <fmt/format.h>
#include <string_view>

namespace trainc {

/// The text of a FlatBuffers string, not copied; empty where there is none.
inline std::string_view view(const flatbuffers::String *string) {
  return string ? std::string_view(string->data(), string->size()) : std::string_view();
}

/// The op that an instruction came from, and its place in the model: "head: nn.matmul at gpt.mlir:6".
inline std::string sourceText(const fb::Source &source) {
  std::string text(view(source.op()));
  return source.file() && source.line() ? fmt::format("{} at {}:{}", text, view(source.file()), source.line())
                                        : text;
}

} // namespace trainc
