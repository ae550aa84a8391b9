// Execution of one rank's entries on simulated ranks.
#pragma once

#include "lib/Reference/Interpreter.h"

namespace trainc::reference {

/// Runs the entry of that kind of `module`, in phase `spmd`, on all ranks in lockstep: op by op, and a
/// collective when every rank has reached it. ranks[i] is the memory of rank i. The module's mesh says which
/// ranks meet. Errors are as for runEntry, plus collectives inside loops.
llvm::LogicalResult runEntryOnRanks(mlir::ModuleOp module, EntryKind kind,
                                    llvm::MutableArrayRef<EntryMemory> ranks);

} // namespace trainc::reference
