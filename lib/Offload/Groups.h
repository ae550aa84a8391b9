// Groups of states that are fetched, computed with and stored together.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// An op that reads or computes offloaded states, and its accesses.
struct Group {
  mlir::Operation *op;
  llvm::SmallVector<train::GetOp> gets;
  llvm::SmallVector<train::SetOp> sets;
};

/// Returns the group or, if its op is a kernel that can be split, groups of pieces that replace it. Each
/// piece has at most `bytes` of states, as far as disk blocks and tensor rows allow it.
llvm::SmallVector<Group> cutGroup(const Group &group, int64_t bytes);

} // namespace trainc
