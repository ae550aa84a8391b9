// Copying a file's elements into a batch: widths converted, values checked.
#pragma once

#include "runtime/data/column_spec.h"
#include "runtime/formats/safetensors_view.h"

namespace trainc {

/// The integers that a column may hold: [lower, upper], and `ignore` where `ignores`.
struct IntegerBounds {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t ignore = 0;
  bool ignores = false;

  bool allows(int64_t value) const {
    return (value >= lower && value <= upper) || (ignores && value == ignore);
  }
};

/// What `spec` allows: values below its limit (or, unchecked, all that its dtype holds), and its ignored
/// value.
IntegerBounds integerBounds(const ColumnSpec &spec);

/// Converts `count` elements at `source` (any alignment) to the column's dtype at `destination` (any
/// alignment). Returns the position of the first integer that `bounds` does not allow, or `count`; floats are
/// not checked.
using ConvertElements = size_t (*)(const std::byte *source, size_t count, std::byte *destination,
                                   const IntegerBounds &bounds);

/// The conversion from a file's dtype to a plan's: integers to integers, floats to f32 or f64, and equal
/// dtypes; null for any other pair, such as integers to floats.
ConvertElements findConversion(SafetensorsDType from, fb::DType to);

/// Writes `count` times the integer `value` in dtype `to`, which must be an integer type.
void fillIntegers(int64_t value, size_t count, fb::DType to, std::byte *destination);

/// The integer of dtype `from` at `source`, for messages.
std::string integerText(SafetensorsDType from, const std::byte *source);

bool isInteger(fb::DType dtype);

} // namespace trainc
