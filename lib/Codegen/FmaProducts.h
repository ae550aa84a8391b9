// Panels and micro-kernel of products by fused multiply-adds. A panel is [term][lane].
#pragma once

#include "lib/Codegen/Gemm.h"

namespace trainc::codegen::fma {

inline constexpr int64_t kPanelRows = 8, kPanelColumns = 48, kDepthBlock = 256;

/// `panelStride` in elements.
mlir::func::FuncOp packPanels(mlir::ModuleOp kernels, mlir::Type element, int64_t lanes, LaneOrder order,
                              int64_t panelStride);

/// The one function of products whose code differs between instruction-set levels, since it must use all
/// registers and no more.
mlir::func::FuncOp microKernel(mlir::ModuleOp kernels, mlir::Type element);

} // namespace trainc::codegen::fma
