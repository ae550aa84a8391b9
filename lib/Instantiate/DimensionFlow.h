// How the samples of a batch, or the positions of a sequence, go through an entry's ops.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseMap.h"

namespace trainc {

/// The ops of an entry that values depend on, in program order.
llvm::SmallVector<mlir::Operation *> opsLeadingTo(mlir::ValueRange values);

/// Follows one dimension of inputs, along which `parts` samples or positions lie, from op to op.
class DimensionFlow {
public:
  explicit DimensionFlow(int64_t parts) : parts(parts) {}

  /// The parts lie along dimension `dim` of `input`.
  void start(mlir::Value input, size_t dim) { dims[input] = dim; }
  /// The dimension of a value along which the parts lie; none where it is the same for all.
  std::optional<size_t> dimOf(mlir::Value value) const;

  /// Follows an op that computes every part of its results from the same part of its operands; fails if it
  /// does not, or if its interfaces do not say so.
  llvm::LogicalResult followApart(mlir::Operation *op);

  /// Whether an op goes from part to part.
  bool goesAlong(IncrementalOpInterface op) const;
  /// Follows such an op; fails unless all its operands have one part for each of its steps.
  llvm::LogicalResult followAlong(IncrementalOpInterface op);

private:
  llvm::LogicalResult setDim(mlir::Value result, size_t dim);
  llvm::LogicalResult followLabel(mlir::Operation *op, const IndexingRule &rule, int label);

  int64_t parts;
  llvm::DenseMap<mlir::Value, size_t> dims;
};

/// The first op that computes a sample's share of `values` from other samples of the batch as well; null if
/// none does. Dimension 0 of every input is the batch.
mlir::Operation *findCombinedSamples(mlir::ValueRange values, int64_t batch);

} // namespace trainc
