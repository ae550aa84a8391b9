// Whether the ranks mean to do the same.
#pragma once

#include "runtime/exec/control_channel.h"

#include <span>
#include <string>

namespace trainc {

/// What all ranks must have alike, as text.
struct NamedValue {
  std::string name, value;
};

/// How many can be compared at once.
inline constexpr size_t kMostValues = ControlChannel::kValueBytes / sizeof(uint64_t);

/// Compares the values of all ranks, which have the same names. Where one differs it fails (kInvalidInput) on
/// all of them alike, and names it, and what it is on rank 0 and on the first rank that has another.
Status checkSame(ControlChannel &control, std::span<const NamedValue> values);

} // namespace trainc
