// Proof that collectives of an entry can overlap with its computation, in the phase `scheduled`.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/Block.h"
#include "llvm/Support/LogicalResult.h"

namespace trainc {

/// Proves the following properties of the entry's block, or emits an error.
///
///  * Computation reads the result of a collective only after its wait: the result of a start has one use,
///  its wait (dialect `dist`), and a wait precedes the readers of its value (SSA).
///  * Nothing is overwritten while a collective reads it: no state is written between a start that reads it
///  and the wait. Other values are written once.
///  * All ranks start the same collectives in the same order: all ranks run the same entry, and no collective
///  is inside a loop or another region. Collectives of one `message` have one kind and axes, and no
///  computation between them.
///  * Waits are in the order of starts, so that no wait is redundant.
///  * No message has more ranges than a plan can hold.
///
/// Whether reads of states see the right writes is verified by the passes that move them (StateOrder.h).
llvm::LogicalResult requireProvenOverlap(mlir::Block &entry);

/// Starts of one kind and axes that share a `message` number, or a single start.
using Message = llvm::SmallVector<CollectiveOpInterface, 1>;

/// Returns the wait of the collective.
mlir::Operation *waitOf(CollectiveOpInterface start);

/// Reports an error if the start is inside a loop instead of the entry's block.
llvm::LogicalResult requireInEntry(CollectiveOpInterface start);

/// Returns the state of the parameters that are gathered, directly or after a cast; null if something else is
/// gathered.
train::StateOp gatheredState(CollectiveOpInterface start);

/// Whether `op` casts a rank's shard of parameters and all its users are gathers; false for null.
bool isCastToGather(mlir::Operation *op);

/// Whether `a` precedes `b` in the block. Null as `a` is the beginning of the block.
bool isBefore(mlir::Operation *a, mlir::Operation *b);

} // namespace trainc
