// Checks that positions of a sequence are combined only by ops that generation supports.
#pragma once

#include "lib/Instantiate/DimensionFlow.h"
#include "lib/Instantiate/Entries.h"

namespace trainc {

/// Values of the model's own body, each with its dimensions that depend on the sequence length.
using PositionDims = llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>>;

/// Flow of positions through a model.
struct PositionFlow {
  PositionDims dims;
  /// For each IncrementalOpInterface that the logits depend on, in program order: whether it runs along the
  /// sequence, so that generation needs another form of it.
  llvm::SmallVector<bool> alongSequence;
};

/// Reports an error at the first op that combines samples in the computation of the logits; decode processes
/// one sample.
llvm::LogicalResult checkSampleFlow(Instantiation &shared);

/// Expands a model with tokens and logits for two lengths and compares the shapes to find dimensions that
/// depend on the length. Reports an error at the first op that does not fit every length, or that combines
/// positions and is no IncrementalOpInterface: decode, which processes one position at a time, would compute
/// something else.
mlir::FailureOr<PositionFlow> checkPositionFlow(Instantiation &shared);

} // namespace trainc
