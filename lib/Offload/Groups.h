// What is fetched, computed with and stored together.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// An op that reads states from outside the device's memory, or makes what they get, and its accesses.
struct Group {
  mlir::Operation *op;
  llvm::SmallVector<train::GetOp> gets;
  llvm::SmallVector<train::SetOp> sets;
};

/// The group, or if its op is a kernel that can be cut, groups of pieces of it in its place: each with at
/// most `bytes` of states, as far as blocks of a disk and rows of tensors allow it.
llvm::SmallVector<Group> cutGroup(const Group &group, int64_t bytes);

} // namespace trainc
