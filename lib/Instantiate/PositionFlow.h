// Whether positions of a sequence see each other only where generation knows how to go on.
#pragma once

#include "lib/Instantiate/Entries.h"

namespace trainc {

/// The ops of an entry that a value depends on, in program order.
llvm::SmallVector<mlir::Operation *> opsLeadingTo(mlir::Value value);

/// Expands a model with tokens and logits for two lengths: what differs between the two follows the length.
/// Emits an error at the first op that combines positions and is no IncrementalOpInterface (decode, which
/// sees one position at a time, would compute something else), or that does not fit every length.
mlir::LogicalResult checkPositionFlow(Instantiation &shared);

} // namespace trainc
