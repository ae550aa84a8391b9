// The loop nest that a group of primitive ops shares: rows x columns, and how each value varies over it.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace trainc {

namespace nn {
class KernelOp;
}

/// How a value varies over rows and columns. Where several fit (one row, one column), the first in this order
/// is meant.
enum class Extent {
  Full,        ///< one element per row and column
  PerRow,      ///< one element per row
  PerColumn,   ///< one element per column
  Scalar,      ///< one element
  PartialRows, ///< varies over some of the dimensions that make up the rows (and over columns or not)
  Table        ///< the table of a gather, addressed by row
};

/// Which row of a value belongs to row r of the space: sum over terms of ((r / divisor) % size) * stride,
/// where a term's stride is the product of the sizes of the terms after it. No terms: always row 0.
struct RowMap {
  struct Term {
    int64_t divisor, size;
    bool operator==(const Term &) const = default;
  };
  llvm::SmallVector<Term, 2> terms;

  /// Number of rows of the value.
  int64_t rows() const;
  /// Adds a faster-varying term, joined with the last one where they are adjacent; size 1 adds nothing.
  void append(Term term);
  /// The terms that each of `dims`, row-major, stands for (size 1 where a dimension is 1); none if the
  /// borders of dimensions and terms do not agree.
  std::optional<llvm::SmallVector<Term>> split(llvm::ArrayRef<int64_t> dims) const;
  bool operator==(const RowMap &) const = default;
};

/// Where a value stands in an iteration space. A value's elements are row-major: element (mapped row,
/// column), or (mapped row) where it does not vary along columns.
struct Placement {
  Extent extent = Extent::Full;
  bool columns = false; ///< varies along columns
  RowMap rows;
  bool operator==(const Placement &) const = default;
};

/// An iteration space and the placement of every value that a list of primitive ops reads or makes.
///
/// The rules: elementwise ops and reshapes keep the placement. nn.reduce takes Full to PerRow (over the
/// trailing dimensions), to PerColumn (over the leading ones) or, of a single row, to Scalar (over all), and
/// PerRow to Scalar.
/// nn.broadcast makes a placement from one that varies less. nn.gather reads a table of the group's inputs by
/// ids that do not vary along columns; its rows are the columns of the space (or single elements). Placements
/// follow from the ops; counting elements decides only where no op does, where every consistent answer is
/// right.
///
/// What reductions over rows make (PerColumn, Scalar) is complete only when all rows are done, so no op of
/// the group may use it. Results that leave the group are Full, PerRow or Scalar, or such reductions.
class IterationSpace {
public:
  /// The space that all `ops` (in program order, the group to be merged) fit in; none if there is none.
  /// `why`, if given, receives the reason.
  static std::optional<IterationSpace> infer(llvm::ArrayRef<mlir::Operation *> ops,
                                             std::string *why = nullptr);

  /// The space of a kernel, with the rows and columns that its attributes say; emits an error where its ops
  /// do not fit.
  static llvm::FailureOr<IterationSpace> of(nn::KernelOp kernel);

  /// A single row longer than this is cut into pieces that run in parallel.
  static constexpr int64_t kLongRow = 65536;

  int64_t rows() const { return rowCount; }
  int64_t columns() const { return columnCount; }

  /// Placement of a value that one of the ops reads or makes.
  const Placement &placement(mlir::Value value) const;
  Extent extent(mlir::Value value) const { return placement(value).extent; }

  /// True for reductions that are complete only when all rows are done, or, where a single row is longer than
  /// kLongRow, all its pieces: no op of the group uses them.
  bool isReducedOverTiles(mlir::Value value) const;

  /// The pass over a row's columns after which (for reductions over columns) or in which (for Full values)
  /// the value is known, from 0: the number of reductions along columns on the longest way to it.
  int64_t depth(mlir::Value value) const;

  /// Number of passes over the columns of a row: 1 + the deepest reduction that a Full value uses.
  int64_t passes() const { return passCount; }

  /// True for ops that can stand in a kernel at all: elementwise, reduce, broadcast, reshape, gather.
  static bool isPrimitive(mlir::Operation *op);

private:
  friend class SpaceSolver;
  int64_t rowCount = 1, columnCount = 1;
  llvm::DenseMap<mlir::Value, Placement> placements;
  llvm::DenseMap<mlir::Value, int64_t> depths;
  llvm::DenseSet<mlir::Value> reducedOverTiles;
  int64_t passCount = 1;
};

} // namespace trainc
