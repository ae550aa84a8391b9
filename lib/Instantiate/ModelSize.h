// How large a model is once its blocks are expanded.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc {

/// Ops of an expanded model. A plan of so many small layers takes some minutes to compile.
constexpr uint64_t kMaxModelOps = 100000;
/// Blocks within blocks; each level takes some of the stack.
constexpr size_t kMaxNesting = 100;

/// Counts the ops of the expanded model, each block once; an error at the use of a block, or at the op, that
/// makes them too many. Blocks that contain themselves or lie too deep are for the expansion to report, which
/// meets them in the same order.
llvm::LogicalResult checkModelSize(nn::ModelOp model);

} // namespace trainc
