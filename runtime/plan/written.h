// Who wrote the bytes of an arena last. Internal to runtime/plan.
#pragma once

#include "runtime/base/pieces.h"

#include <optional>

namespace trainc::verify {

/// How a library call wrote rows with padding behind them, in bytes. None elsewhere.
struct PaddedRows {
  uint64_t bytes = 0, distance = 0;
  bool operator==(const PaddedRows &) const = default;
};

/// What the bytes of a piece hold.
struct Value {
  uint32_t buffer; ///< through which they were written
  bool exact;      ///< every byte was: by a copy, a zeroing or a collective; what computes may leave some out
  bool read = false; ///< since then
  PaddedRows rows = {};
  bool operator==(const Value &) const = default;
};

/// None where nobody has written.
using Content = std::optional<Value>;

/// What the bytes of an arena hold.
using Written = Pieces<Content>;

} // namespace trainc::verify
