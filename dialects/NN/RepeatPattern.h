// Repetition of a small tensor over a large one, independent of their shapes.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace trainc::nn {

/// The row-major positions of a large tensor as runs, from the slowest to the fastest. Along a kept run the
/// small tensor varies; along other runs it repeats. The product of the kept sizes is the small tensor's
/// number of elements; the product of all sizes is the large tensor's. Reshapes do not change a pattern, and
/// equal repetitions have equal patterns.
class RepeatPattern {
public:
  struct Run {
    int64_t size;
    bool kept;
    bool operator==(const Run &) const = default;
    friend llvm::hash_code hash_value(const Run &run) { return llvm::hash_combine(run.size, run.kept); }
  };

  /// Returns the pattern of a tensor of `count` elements that does not repeat.
  static RepeatPattern identity(int64_t count);
  /// Returns the pattern of one element that repeats `count` times.
  static RepeatPattern scalar(int64_t count);
  /// Returns the pattern of nn.broadcast from shape `from` to shape `to` (right-aligned).
  static RepeatPattern broadcast(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

  /// Appends a run that is faster than all others.
  void append(Run run);

  /// Returns the repetition of a third, smaller tensor over this pattern's large tensor. `inner` repeats the
  /// third tensor over this pattern's small tensor. Returns none if the boundaries of their runs do not
  /// align.
  std::optional<RepeatPattern> compose(const RepeatPattern &inner) const;

  /// Returns this pattern with the large tensor repeated `times` along a new fastest run.
  RepeatPattern repeatedAlongColumns(int64_t times) const;

  /// Splits the pattern into two: one of rows, each of `columns` positions, and one of the positions within a
  /// row. Returns none if a row boundary falls inside a run's factor.
  struct Parts;
  std::optional<Parts> split(int64_t columns) const;

  /// Number of positions of the large tensor.
  int64_t count() const;
  /// Number of elements of the small tensor.
  int64_t elements() const;
  bool isIdentity() const;
  bool isScalar() const { return elements() == 1; }
  /// Number of trailing positions along which the small tensor varies everywhere or nowhere; 0 if this holds
  /// for all positions.
  int64_t uniformColumns() const { return runs.size() > 1 ? runs.back().size : 0; }
  /// Whether the small tensor has one element for each row of rows x columns.
  bool isPerRow(int64_t rows, int64_t columns) const;

  llvm::ArrayRef<Run> getRuns() const { return runs; }
  bool operator==(const RepeatPattern &) const = default;

private:
  llvm::SmallVector<Run, 3> runs; // adjacent runs differ in `kept`; sizes are above 1
};

struct RepeatPattern::Parts {
  RepeatPattern rows, columns;
};

} // namespace trainc::nn
