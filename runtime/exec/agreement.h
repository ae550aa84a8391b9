// Checks that all ranks run with the same settings.
#pragma once

#include "runtime/exec/control_channel.h"

#include <span>
#include <string>

namespace trainc {

/// A named value, as text, that must be equal on all ranks.
struct NamedValue {
  std::string name, value;
};

/// Maximum number of values per comparison.
inline constexpr size_t kMaxValues = ControlChannel::kValueBytes / sizeof(uint64_t);

/// Compares the values of all ranks; all ranks pass the same names. If a value differs, fails on all ranks
/// with kInvalidInput, naming the value, its text on rank 0 and the first rank with another text.
Status checkSame(ControlChannel &control, std::span<const NamedValue> values);

} // namespace trainc
