// nn.scatter: replaces rows at indices.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// How a target copies rows.
struct RowCopyTuning {
  int64_t threads;     ///< threads per block
  int64_t accessBytes; ///< maximum bytes of one access
  int64_t accesses;    ///< maximum accesses of a thread in a tile
};

/// Summary of a launch in which each tile copies a piece of one row.
KernelSummary summariseRowCopy(nn::ScatterOp op, const RowCopyTuning &tuning);
Symbols generateRowCopy(nn::ScatterOp op, const RowCopyTuning &tuning, KernelModule &kernels);

} // namespace trainc::codegen
