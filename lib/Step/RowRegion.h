// Ops around a loss that can run on slices of rows.
#pragma once

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace trainc {

/// A convex set of ops of one block, grown from one large value whose leading dimensions (all but the last)
/// are rows. It contains every op that produces or uses an equally large value, and all ops on paths between
/// them. If grow() succeeds, the ops can run on one slice of rows after another: the leading dimensions of
/// each value are the rows, or the value does not depend on single rows. Sums over rows are used outside the
/// region only.
class RowRegion {
public:
  explicit RowRegion(mlir::Value seed);

  /// Returns false if the ops cannot be split into slices.
  bool grow();

  /// Returns the ops in program order.
  llvm::ArrayRef<mlir::Operation *> ops() const { return members; }
  /// Number of rows, and number of leading dimensions that form them.
  int64_t rows() const { return rowCount; }
  size_t rowRank() const { return seedType.getRank() - 1; }
  /// Whether the value's leading dimensions are the rows.
  bool carriesRows(mlir::Value value) const { return carrying.contains(value); }
  /// Whether the result is a sum over the rows.
  bool isPartialSum(mlir::Value value) const { return partial.contains(value); }
  bool contains(mlir::Operation *op) const { return set.contains(op); }

private:
  bool isLarge(mlir::Value value) const;
  bool hasRowShape(mlir::Value value) const;
  bool addNeighbours(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Operation *> &work);
  bool addConnected(mlir::Operation *op);
  bool closeWays();
  bool label(mlir::Operation *op);
  llvm::SmallVector<int> cutLabels(llvm::ArrayRef<int> labels) const;

  mlir::RankedTensorType seedType;
  mlir::Value seed;
  mlir::Block *block;
  int64_t rowCount;
  llvm::DenseSet<mlir::Operation *> set;
  llvm::SmallVector<mlir::Operation *> members;
  llvm::DenseSet<mlir::Value> carrying, partial;
};

} // namespace trainc
