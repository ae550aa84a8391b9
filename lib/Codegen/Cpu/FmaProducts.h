// Panels and micro-kernel of products by fused multiply-adds. A panel of A is [term][lane]; one of B is
// [register tile][term][lane], so that what a tile of registers reads of it stays in the first-level cache.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"

namespace trainc::codegen::fma {

inline constexpr int64_t kPanelRows = 8, kPanelColumns = 48, kDepthBlock = 256;

inline constexpr int64_t kLine = 16; ///< f32 numbers of a cache line

/// Panels of B are as wide as the level's register tiles. `laneStride`: ProductScheme::laneStride().
mlir::func::FuncOp packPanels(KernelModule &kernels, mlir::Type element, Side side, LaneOrder order,
                              int64_t laneStride);

/// Differs between instruction-set levels, since it must use all registers and no more.
mlir::func::FuncOp microKernel(KernelModule &kernels, mlir::Type element, int64_t laneStride);

} // namespace trainc::codegen::fma
