// Questions about collectives that several phases ask.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Train/Train.h"

namespace trainc {

/// Starts of one kind and group that go together: those with one number as `message`, or one start alone.
using Message = llvm::SmallVector<CollectiveOpInterface, 1>;

/// The op that waits for the collective.
mlir::Operation *waitOf(CollectiveOpInterface start);

/// Whether the start stands in the entry itself, and not in a loop; an error if not.
llvm::LogicalResult requireInEntry(CollectiveOpInterface start);

/// The parameters that are gathered to be read; null where it is something else.
train::StateOp gatheredState(CollectiveOpInterface start);

/// Whether `a`, null for the beginning of the block, stands before another op `b`.
bool isBefore(mlir::Operation *a, mlir::Operation *b);

} // namespace trainc
