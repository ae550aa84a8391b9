// Rounding of weights to another float dtype.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <optional>

namespace trainc {

/// A finite element that overflows in the other dtype.
struct RoundingOverflow {
  size_t element;
  double value;
};

/// Whether elements of this dtype can be rounded: F64, F32, F16 or BF16.
bool isRoundable(SafetensorsDType dtype);

/// The largest finite number of `dtype`: F32, BF16 or F16.
double largestFinite(SafetensorsDType dtype);

/// Rounds the elements of `source` to dtype `to` (F32, BF16 or F16), ties to even, into `destination`.
/// Infinities and NaN are kept. Stops at the first element that overflows, and returns it.
std::optional<RoundingOverflow> roundElements(SafetensorsDType from, std::span<const std::byte> source,
                                              SafetensorsDType to, std::byte *destination);

} // namespace trainc
