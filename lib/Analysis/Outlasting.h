// Disk copies that may still run after their entry has ended: the rules of plan/facts/outlasting.h, applied
// to the plan dialect.
#pragma once

#include "lib/Analysis/InstructionUses.h"
#include "plan/cost/entry_runs.h"

namespace trainc {

/// Returns the instruction numbers of an entry's copies that may outlast it, ascending.
llvm::SmallVector<uint32_t> outlastingCopies(plan::EntryOp entry, const plan::ModuleContext &context);

/// Returns the dependencies of `entry`'s instructions on copies of `previous` that may still run. Both
/// entries are in the module of `uses`.
std::vector<TaskWait> outlastingWaits(plan::EntryOp previous, plan::EntryOp entry,
                                      const InstructionUses &uses);

} // namespace trainc
