// Flow of a batch's samples, or of a sequence's positions, through an entry's ops.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseMap.h"

namespace trainc {

/// Returns the ops of an entry that `values` depend on, in program order.
llvm::SmallVector<mlir::Operation *> opsLeadingTo(mlir::ValueRange values);

/// Follows one dimension of the inputs, which has `parts` samples or positions, from op to op.
class DimensionFlow {
public:
  explicit DimensionFlow(int64_t parts) : parts(parts) {}

  /// Declares that the parts are along dimension `dim` of `input`.
  void start(mlir::Value input, size_t dim) { dims[input] = dim; }
  /// Returns the dimension of a value that has the parts; none if the value is the same for all parts.
  std::optional<size_t> dimOf(mlir::Value value) const;

  /// Follows an op that computes every part of its results from the same part of its operands. Fails if the
  /// op combines parts, or if it has no interface that rules this out.
  llvm::LogicalResult followApart(mlir::Operation *op);

  /// Whether the sequence dimension of some operand is the dimension that has the parts.
  bool goesAlong(IncrementalOpInterface op) const;
  /// Follows an op for which goesAlong() holds. Fails unless each operand has one part per step of the op.
  llvm::LogicalResult followAlong(IncrementalOpInterface op);

private:
  llvm::LogicalResult setDim(mlir::Value result, size_t dim);
  llvm::LogicalResult followLabel(mlir::Operation *op, const IndexingRule &rule, int label);

  int64_t parts;
  llvm::DenseMap<mlir::Value, size_t> dims;
};

/// Returns the first op that combines samples in the computation of `values`; null if none does. Dimension 0
/// of every input is the batch.
mlir::Operation *findCombinedSamples(mlir::ValueRange values, int64_t batch);

} // namespace trainc
