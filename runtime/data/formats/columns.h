// Batch columns that a plan requires, and conversion of file elements to them.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/formats/safetensors_view.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc {

/// One row (sample) of a batch column in the plan's format: row-major elements of `dtype`.
struct ColumnSpec {
  std::string name; ///< "tokens", "labels", "segments", a feature's name
  fb::DType dtype = fb::DType::I32;
  std::vector<uint64_t> shape; ///< shape of one sample, without the leading dimension of the plan's input
  uint64_t limit = 0;          ///< integers must be below it; 0 if unchecked
  int64_t ignore = -1;         ///< integer that is also allowed if limit > 0; never in the column "tokens"
  bool pads = false;           ///< whether missing samples are filled with `ignore`

  bool operator==(const ColumnSpec &) const = default;

  uint64_t elements() const; ///< of one sample
  uint64_t bytes() const;    ///< of one sample
};

/// The column that `input` of a verified plan requires.
ColumnSpec columnSpec(const fb::Input &input);

/// The columns of all `inputs`, without duplicates.
std::vector<ColumnSpec> distinctColumns(const std::vector<const fb::Input *> &inputs);

/// Allowed integers of a column: [lower, upper], and, if `ignores`, `ignore`, which is outside that range.
struct IntegerBounds {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t ignore = 0;
  bool ignores = false;

  bool allows(int64_t value) const {
    return (value >= lower && value <= upper) || (ignores && value == ignore);
  }
};

/// Integers that `spec` allows: below its limit (or, unchecked, the range of its dtype), and its ignored
/// value.
IntegerBounds integerBounds(const ColumnSpec &spec);

/// Converts `count` elements at `source` (any alignment) to the column's dtype at `destination` (any
/// alignment). Returns the index of the first integer that `bounds` does not allow, or `count`; floats are
/// not checked.
using ConvertElements = size_t (*)(const std::byte *source, size_t count, std::byte *destination,
                                   const IntegerBounds &bounds);

/// Returns the conversion from a file's dtype to a plan's: integers to integers, floats to f32 or f64, and
/// equal dtypes; null for any other pair, such as integers to floats.
ConvertElements findConversion(SafetensorsDType from, fb::DType to);

/// Writes the integer `value` `count` times in dtype `to`, which must be an integer type.
void fillIntegers(int64_t value, size_t count, fb::DType to, std::byte *destination);

/// The integer of dtype `from` at `source` as text, for messages.
std::string integerText(SafetensorsDType from, const std::byte *source);

/// The float of dtype `from` at `source` as text, for messages.
std::string floatText(SafetensorsDType from, const std::byte *source);

/// Index of the first element of `row` (whole elements of `dtype`) that is NaN or infinity; nothing for
/// integers.
std::optional<size_t> findNonFinite(fb::DType dtype, std::span<const std::byte> row);

bool isInteger(fb::DType dtype);

} // namespace trainc
