// Whether positions of a sequence see each other only where generation knows how to go on.
#pragma once

#include "lib/Instantiate/Entries.h"

namespace trainc {

/// The ops of an entry that a value depends on, in program order.
llvm::SmallVector<mlir::Operation *> opsLeadingTo(mlir::Value value);

/// Values of the model's own body, each with the dimensions that follow the length of the sequence.
using PositionDims = llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t, 1>>;

/// Expands a model with tokens and logits for two lengths: what differs between the two follows the length.
/// Emits an error at the first op that combines positions and is no IncrementalOpInterface (decode, which
/// sees one position at a time, would compute something else), or that does not fit every length.
mlir::FailureOr<PositionDims> checkPositionFlow(Instantiation &shared);

/// The entries prefill and decode of a model with tokens and logits, whose positions flow as `dims` says.
mlir::LogicalResult buildGenerationEntries(Instantiation &shared, const PositionDims &dims);

} // namespace trainc
