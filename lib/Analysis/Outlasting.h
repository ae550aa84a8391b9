// Copies to disk that go on when their entry has ended: what runtime/plan/outlasting.h says of plan files, of
// plans as IR.
#pragma once

#include "lib/Analysis/InstructionUses.h"
#include "runtime/cost/entry_runs.h"

namespace trainc {

/// The numbers of an entry's copies that may outlast it, ascending.
llvm::SmallVector<uint32_t> outlastingCopies(plan::EntryOp entry, const plan::Surroundings &around);

/// What instructions of `entry` wait for if such copies of `previous` still run. Both are of the module
/// of `uses`.
std::vector<TaskWait> outlastingWaits(plan::EntryOp previous, plan::EntryOp entry,
                                      const InstructionUses &uses);

} // namespace trainc
