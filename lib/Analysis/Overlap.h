// The proof that collectives of an entry may run beside its computation, in the phase `scheduled`.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/Block.h"
#include "llvm/Support/LogicalResult.h"

namespace trainc {

/// Proves, or emits an error, that in the entry's block
///
///  * what computes reads what collectives bring behind their waits: a start's value is used by its one wait
///    alone (dialect `dist`), and a wait stands before what reads its value (SSA);
///  * nothing is overwritten that a collective still reads: no state is written between a start that reads
///    it and the wait. Other values are written once;
///  * all ranks start the same collectives in the same order: they run the same entry, and no collective
///    stands in a loop or any other region. Those with one `message` have one kind and group, and no op that
///    computes between them;
///  * waits come in the order of starts, so that none waits for what an earlier one has shown to be done;
///  * no message has more ranges than a plan can hold.
///
/// That reads of states see the writes that they are to see is for the passes that move them (StateOrder.h).
llvm::LogicalResult requireProvenOverlap(mlir::Block &entry);

/// Starts of one kind and group that go together: those with one number as `message`, or one start alone.
using Message = llvm::SmallVector<CollectiveOpInterface, 1>;

/// The op that waits for the collective.
mlir::Operation *waitOf(CollectiveOpInterface start);

/// Whether the start stands in the entry itself, and not in a loop; an error if not.
llvm::LogicalResult requireInEntry(CollectiveOpInterface start);

/// The parameters that are gathered to be read, as they are or cast; null where it is something else.
train::StateOp gatheredState(CollectiveOpInterface start);

/// Whether the op (or none) casts a rank's part of parameters for such gathers alone.
bool isCastToGather(mlir::Operation *op);

/// Whether `a`, null for the beginning of the block, stands before another op `b`.
bool isBefore(mlir::Operation *a, mlir::Operation *b);

} // namespace trainc
