// Weights in another float dtype.
#pragma once

#include "runtime/formats/safetensors_view.h"

#include <optional>

namespace trainc {

/// A finite element that the other dtype has no finite number for.
struct RoundingOverflow {
  size_t element;
  double value;
};

/// Whether elements of this dtype can be rounded: F64, F32, F16 or BF16.
bool isRoundable(SafetensorsDType dtype);

/// The largest finite number of `dtype`: F32, BF16 or F16.
double largestFinite(SafetensorsDType dtype);

/// Writes the numbers of `dtype` `to` (F32, BF16 or F16) that are nearest to the elements of `source`, of two
/// the even one, to `destination`. Infinities and NaN stay. Ends at the first element that overflows, and
/// returns it.
std::optional<RoundingOverflow> roundElements(SafetensorsDType from, std::span<const std::byte> source,
                                              SafetensorsDType to, std::byte *destination);

} // namespace trainc
