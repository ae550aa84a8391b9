// Rounding of weights to another float dtype.
#pragma once

#include "runtime/formats/safetensors_view.h"
#include "runtime/state/state_tensor.h"

#include <optional>

namespace trainc {

/// An element that cannot be converted: NaN, infinity, or a finite number outside the range of the other
/// dtype.
struct BadElement {
  uint64_t element;
  double value;
};

/// Whether elements of this dtype can be rounded: F64, F32, F16 or BF16.
bool isRoundable(SafetensorsDType dtype);

/// Whether roundElements() can round to this dtype: F32, F16 or BF16.
bool isRoundingTarget(SafetensorsDType dtype);

/// The largest finite number of `dtype`: F32, BF16 or F16.
double largestFinite(SafetensorsDType dtype);

/// Rounds the elements of `source` to dtype `to` (F32, BF16 or F16), ties to even, into `destination`.
/// Infinities and NaN are kept. Stops at the first element that overflows, and returns it.
std::optional<BadElement> roundElements(SafetensorsDType from, std::span<const std::byte> source,
                                        SafetensorsDType to, std::byte *destination);

/// Returns the first NaN or infinity among elements of a dtype of floats; nothing for other dtypes.
std::optional<BadElement> findNonFinite(SafetensorsDType dtype, std::span<const std::byte> elements);

/// Describes the first NaN or infinity in a piece of a parameter, which begins at the tensor's byte `begin`:
/// "parameter 'w' holds nan in element 3"; nothing if all numbers are finite.
std::optional<std::string> describeNonFinite(const StateTensor &parameter, uint64_t begin,
                                             std::span<const std::byte> piece);

} // namespace trainc
