// Reductions of rows, i.e. along the last dimension.
#pragma once

#include "dialects/NN/Builders.h"

namespace trainc::nn {

/// Reduces the last dimension: [..., n] -> [...].
inline mlir::Value reduceRows(TensorBuilder &b, ReduceKind kind, mlir::Value x) {
  return b.reduce(kind, x, {tensorType(x).getRank() - 1});
}
inline mlir::Value rowSum(TensorBuilder &b, mlir::Value x) { return reduceRows(b, ReduceKind::sum, x); }
inline mlir::Value rowMean(TensorBuilder &b, mlir::Value x) {
  return b.mul(rowSum(b, x), 1.0 / double(shapeOf(x).back()));
}
/// Repeats `x` [...] along a new last dimension, to the shape of `like` [..., n].
inline mlir::Value overRow(TensorBuilder &b, mlir::Value x, mlir::Value like) {
  return b.broadcastLast(x, shapeOf(like));
}

/// Returns the IndexingRule labels of an operand `x` of an op that can be partitioned along all dimensions
/// but the last.
inline llvm::SmallVector<int> rowLabels(mlir::Value x) {
  llvm::SmallVector<int> labels;
  for (int i = 0, end = int(shapeOf(x).size()) - 1; i <= end; ++i)
    labels.push_back(i < end ? i : -1);
  return labels;
}

} // namespace trainc::nn
