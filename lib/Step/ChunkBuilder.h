// Turns a region of ops that can be cut by rows into a loop over slices.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Step/RowRegion.h"

#include "mlir/IR/IRMapping.h"

namespace trainc {

/// Builds an nn.chunks that does a region's work on `count` slices of equal numbers of rows. Inputs that
/// carry rows are split, the others are whole; results that carry rows are joined, sums over rows are carried
/// from slice to slice, starting from zero.
class ChunkBuilder {
public:
  ChunkBuilder(const RowRegion &region, int64_t count) : region(region), count(count) {}

  /// The loop, placed at the end of the region, whose ops are replaced by it and erased; null, and nothing
  /// changed, if an op does not take the shape of slices.
  nn::ChunksOp build();

private:
  struct Result {
    mlir::Value original; ///< what the loop's result replaces
    mlir::Value yielded;
    int64_t dim;
  };

  mlir::RankedTensorType sliceType(mlir::Value value) const;
  mlir::RankedTensorType joinedType(mlir::Value value) const;
  void addInput(mlir::Value value);
  mlir::Value addArgument(mlir::Value operand, mlir::Type type, int64_t dim);
  bool copyOp(mlir::Operation *op);
  void yieldResult(mlir::Value value);
  void yieldSum(mlir::Value value);
  void replace(nn::ChunksOp chunks);

  const RowRegion &region;
  int64_t count;
  mlir::OpBuilder outside{static_cast<mlir::MLIRContext *>(nullptr)},
      inside{static_cast<mlir::MLIRContext *>(nullptr)};
  mlir::Block *body = nullptr;
  mlir::IRMapping mapping;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<int64_t> inputDims;
  llvm::SmallVector<Result> results;
};

} // namespace trainc
