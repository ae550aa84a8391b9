// Panels of f32 numbers that are split into pieces of bf16: high, middle and low.
//
// A panel is [step of 32 terms][piece][half of the panel's 32 lanes]: one tile of the matrix unit. A word of
// a tile pairs the bf16 pieces of terms i and i + 16 of its step; a tile of A is [lane][word], one of B
// [word][lane].
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"

namespace trainc::codegen::split {

inline constexpr int64_t kPieces = 3, kLanes = 32, kStepTerms = 32, kTileBytes = 1024;
inline constexpr int64_t kPieceBytes = 2 * kTileBytes, kStepBytes = kPieces * kPieceBytes;
inline constexpr int64_t kDepthBlock = 256;

mlir::func::FuncOp packPanels(KernelModule &kernels, Side side, LaneOrder order, int64_t panelStride);
mlir::func::FuncOp microKernel(KernelModule &kernels);

} // namespace trainc::codegen::split
