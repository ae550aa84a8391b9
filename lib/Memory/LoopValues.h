// Values of counted loops.
#pragma once

#include "lib/Memory/WantedViews.h"

namespace trainc {

/// Assigns what a loop reads, carries and yields. Slices are views; carried values are updated in place.
class LoopValues {
public:
  LoopValues(Assignment &assignment, Occupancy &occupancy, WantedViews &wanted)
      : assignment_(assignment), occupancy_(occupancy), wanted_(wanted) {}

  /// Assigns the loop's results and its body's arguments.
  void assign(nn::ChunksOp loop);
  /// Copies values that the body yields and that could not be computed in place.
  void assignYield(mlir::Operation *yield);

private:
  void assignInput(nn::ChunksOp loop, unsigned index);
  void assignCarried(nn::ChunksOp loop, mlir::OpResult result);
  void assignSplitResult(mlir::OpResult result);
  void moveAtOnce(mlir::Operation *op, llvm::SmallVectorImpl<std::pair<Move, mlir::Value>> &moves);

  Assignment &assignment_;
  Occupancy &occupancy_;
  WantedViews &wanted_;
};

} // namespace trainc
