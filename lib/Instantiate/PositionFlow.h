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
  /// Whether an op runs along the sequence, so that generation needs its incremental form. Has one element
  /// for each IncrementalOpInterface that the logits depend on, in program order.
  llvm::SmallVector<bool> alongSequence;
};

/// Reports an error at the first op that combines samples in the computation of the logits, because decode
/// processes one sample.
llvm::LogicalResult checkSampleFlow(Instantiation &shared);

/// Expands a model with tokens and logits for two lengths and compares the shapes to find dimensions that
/// depend on the length. Reports an error at the first op that does not fit every length, or that combines
/// positions and is not an IncrementalOpInterface. Decode processes one position at a time, so such an op
/// would compute something else.
mlir::FailureOr<PositionFlow> checkPositionFlow(Instantiation &shared);

} // namespace trainc
