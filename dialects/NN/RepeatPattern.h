// How a smaller tensor is repeated over a larger one, independent of how either is shaped.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace trainc::nn {

/// The row-major positions of a large tensor, as runs (factors) from the slowest to the fastest: along a kept
/// run the small tensor varies, along the others it repeats. The kept sizes multiply to the small tensor's
/// count, all sizes to the large one's. Reshapes do not change a pattern, and equal repetitions have equal
/// patterns.
class RepeatPattern {
public:
  struct Run {
    int64_t size;
    bool kept;
    bool operator==(const Run &) const = default;
    friend llvm::hash_code hash_value(const Run &run) { return llvm::hash_combine(run.size, run.kept); }
  };

  /// Every element of a tensor of `count` elements at its own position.
  static RepeatPattern identity(int64_t count);
  /// One element at all of `count` positions.
  static RepeatPattern scalar(int64_t count);
  /// nn.broadcast from shape `from` to shape `to` (right-aligned).
  static RepeatPattern broadcast(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

  /// Adds a fastest run.
  void append(Run run);

  /// This pattern's small tensor being itself repeated from a smaller one by `inner`; none if their runs do
  /// not share borders.
  std::optional<RepeatPattern> compose(const RepeatPattern &inner) const;

  /// This pattern, the large tensor itself being repeated `times` along a new fastest run.
  RepeatPattern repeatedAlongColumns(int64_t times) const;

  /// The pattern over rows of `columns` positions, and that over the positions of a row; none if a row's
  /// border lies inside a factor of a run.
  struct Parts;
  std::optional<Parts> split(int64_t columns) const;

  /// Number of positions.
  int64_t count() const;
  /// Elements of the small tensor.
  int64_t elements() const;
  bool isIdentity() const;
  bool isScalar() const { return elements() == 1; }
  /// Number of trailing positions along which the small tensor varies everywhere or nowhere; 0 if that holds
  /// for all.
  int64_t uniformColumns() const { return runs.size() > 1 ? runs.back().size : 0; }
  /// True if the small tensor has one element for each row of rows x columns.
  bool isPerRow(int64_t rows, int64_t columns) const;

  llvm::ArrayRef<Run> getRuns() const { return runs; }
  bool operator==(const RepeatPattern &) const = default;

private:
  llvm::SmallVector<Run, 3> runs; // neighbours differ in `kept`; sizes above 1
};

struct RepeatPattern::Parts {
  RepeatPattern rows, columns;
};

} // namespace trainc::nn
