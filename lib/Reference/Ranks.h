// Running one rank's entries on many simulated ranks.
#pragma once

#include "lib/Reference/Interpreter.h"

namespace trainc::reference {

/// Runs the entry of that kind of `module`, in phase `spmd`, on all ranks in lockstep: op by op, and a
/// collective when every rank has come to it. ranks[i] is rank i's memory; `shardRanks` adjacent ones divide
/// states among themselves. Errors as for runEntry; a collective inside a loop is one.
llvm::LogicalResult runEntryOnRanks(mlir::ModuleOp module, EntryKind kind,
                                    llvm::MutableArrayRef<EntryMemory> ranks, size_t shardRanks);

} // namespace trainc::reference
