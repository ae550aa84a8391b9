// The pieces that matrix products are made of (Goto and van de Geijn 2008; Van Zee and van de Geijn 2015).
//
// A panel holds `width` rows of op(A), or columns of op(B), with the summed dimension outside: [depth,
// width]. The micro-kernel multiplies a panel of A with one of B; its sums stay in registers. It is the one
// function whose code differs between instruction-set levels, since it must use all registers and no more.
#pragma once

#include "lib/Codegen/KernelFunction.h"

namespace trainc::codegen {

/// Rows and columns that one call of the micro-kernel computes.
inline constexpr int64_t kPanelRows = 8, kPanelColumns = 32;
/// Terms that are summed before they are added to C. Every element's sum runs in the order of its terms
/// within a block and over the blocks, so its bits depend on the depth alone: on no tile, thread or level.
inline constexpr int64_t kDepthBlock = 256;

/// Elements from panel to panel: more than they hold, lest all panels meet in one set of the cache.
inline constexpr int64_t panelStride(int64_t width) { return kDepthBlock * width + 16; }

/// How the lanes of panels (rows of op(A), columns of op(B)) lie in memory: side by side, with a stride from
/// term to term, or a stride apart, with the terms side by side.
enum class LaneOrder { Adjacent, Strided };

/// The function that packs lanes into panels of `width`, made at its first use: a private function (to, from:
/// pointers; stride, lanes, depth: i64). What the last panel holds in further lanes does not matter: their
/// products are not stored.
mlir::func::FuncOp packPanels(mlir::ModuleOp kernels, mlir::Type element, int64_t width, LaneOrder order);

/// The micro-kernel of `kernels`, made at its first use: a private function (a, b: packed panels, c: pointer,
/// depth, row stride of c, valid rows, valid columns, adds: all i64) that stores or, if adds is not 0, adds
/// the product of the panels to the valid part of c.
mlir::func::FuncOp microKernel(mlir::ModuleOp kernels, mlir::Type element);

} // namespace trainc::codegen
