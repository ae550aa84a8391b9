// The proof that collectives of an entry may run beside its computation, in the phase `scheduled`.
#pragma once

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

} // namespace trainc
