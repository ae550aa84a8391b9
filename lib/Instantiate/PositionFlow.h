// Whether positions of a sequence see each other only where generation knows how to go on.
#pragma once

#include "lib/Instantiate/DimensionFlow.h"
#include "lib/Instantiate/Entries.h"

namespace trainc {

/// Values of the model's own body, each with the dimensions that follow the length of the sequence.
using PositionDims = llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>>;

/// How positions go through a model.
struct PositionFlow {
  PositionDims dims;
  /// Whether each IncrementalOpInterface that leads to the logits, in program order, goes along the sequence,
  /// so that generation needs another form of it.
  llvm::SmallVector<bool> alongSequence;
};

/// Emits an error at the first op that computes a sample's logits from other samples as well, which decode
/// does not see.
llvm::LogicalResult checkSampleFlow(Instantiation &shared);

/// Expands a model with tokens and logits for two lengths: what differs between the two follows the length.
/// Emits an error at the first op that combines positions and is no IncrementalOpInterface (decode, which
/// sees one position at a time, would compute something else), or that does not fit every length.
mlir::FailureOr<PositionFlow> checkPositionFlow(Instantiation &shared);

} // namespace trainc
