// Strings of a plan without copies.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <string_view>

namespace trainc {

/// The text of a FlatBuffers string; empty where there is none.
inline std::string_view view(const flatbuffers::String *string) {
  return string ? std::string_view(string->data(), string->size()) : std::string_view();
}

} // namespace trainc
