// Size of a model after its blocks are expanded.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc {

/// Maximum ops of an expanded model. A plan with this many small layers takes some minutes to compile.
constexpr uint64_t kMaxModelOps = 100000;
/// Maximum depth of nested blocks, which limits recursion of the expansion.
constexpr size_t kMaxNesting = 100;

/// Counts the ops of the expanded model, visiting each block once. Reports an error at the use of a block, or
/// at the op, that exceeds the maximum. Recursive and too deeply nested blocks are left to the expansion,
/// which visits blocks in the same order and reports them.
llvm::LogicalResult checkModelSize(nn::ModelOp model);

} // namespace trainc
