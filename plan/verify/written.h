// The last write of each byte of an arena. Internal to plan/verify.
#pragma once

#include "plan/facts/pieces.h"

#include <optional>

namespace trainc::verify {

/// Layout of rows with padding that a library call has written, in bytes. Zero for other writes.
struct PaddedRows {
  uint64_t bytes = 0, distance = 0;
  bool operator==(const PaddedRows &) const = default;
};

/// Content of a piece.
struct Value {
  uint32_t buffer; ///< buffer of the write
  bool exact; ///< whether every byte was written: by a copy, a zeroing or a collective; computations may skip
              ///< some
  bool read = false; ///< whether it was read since
  PaddedRows rows = {};
  bool operator==(const Value &) const = default;
};

/// Nothing if never written.
using Content = std::optional<Value>;

/// Content of an arena.
using Written = Pieces<Content>;

} // namespace trainc::verify
