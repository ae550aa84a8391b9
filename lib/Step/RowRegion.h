// The ops around a loss that can run on slices of rows.
#pragma once

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace trainc {

/// A convex set of ops of one block, grown from one large value whose leading dimensions (all but the last)
/// are rows: every op that makes or uses a value as large, and all ops on ways between them. Where grow()
/// succeeds, the ops can run on slices of rows one after the other: each value either carries the rows as its
/// leading dimensions or has nothing of them, and what is summed over rows is used outside only.
class RowRegion {
public:
  explicit RowRegion(mlir::Value seed);

  /// False if the ops cannot be cut.
  bool grow();

  /// In program order.
  llvm::ArrayRef<mlir::Operation *> ops() const { return members; }
  /// Number of rows, and of the dimensions they are spread over.
  int64_t rows() const { return rowCount; }
  size_t rowRank() const { return seedType.getRank() - 1; }
  /// True if the value's leading dimensions are the rows.
  bool carriesRows(mlir::Value value) const { return carrying.contains(value); }
  /// True for results that are sums over the rows.
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
