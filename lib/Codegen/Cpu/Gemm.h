// The pieces that matrix products are made of (Goto and van de Geijn 2008; Van Zee and van de Geijn 2015).
//
// A panel holds some rows of op(A), or columns of op(B): its lanes. The micro-kernel multiplies a panel of A
// with one of B; its sums stay in registers.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// How the lanes of panels lie in memory before they are packed: side by side, with a stride from term to
/// term, or a stride apart, with the terms side by side.
enum class LaneOrder { Adjacent, Strided };

/// Whose lanes: A's rows or B's columns.
enum class Side { A, B };

/// The sizes that suit one way to compute products.
struct ProductSizes {
  int64_t panelRows, panelColumns; ///< lanes of panels
  int64_t callRows, callColumns;   ///< what one call of the micro-kernel computes, at most: whole panels
  /// Terms that are packed at a time. Every element's sum runs in the order of its terms within a block and
  /// over the blocks, so its bits depend on the depth alone: on no tile, thread or instruction-set level.
  int64_t depthBlock;
  int64_t tileRows, tileColumns; ///< of C, at most, that one thread computes at a time: B's part stays in L2
  int64_t packedBytes;           ///< of one element in a panel

  /// Bytes that a panel takes for each of its lanes: more than its terms have, lest all panels meet in one
  /// set of the cache. Panels of 8 lanes and multiples begin at cache lines.
  int64_t laneStride() const { return depthBlock * packedBytes + 8; }
  /// Bytes from panel to panel.
  int64_t panelStride(int64_t lanes) const { return laneStride() * lanes; }
};

/// One way to compute products: its sizes, and functions that are made at their first use.
struct ProductScheme : ProductSizes {
  /// Pack lanes into panels: private functions (to, from: pointers; stride, lanes, depth: i64). What the last
  /// panel holds in further lanes does not matter: their products are not stored.
  mlir::func::FuncOp packA = {}, packB = {};
  /// The micro-kernel: a private function (a, b: packed panels, c: pointer, depth, row stride of c, valid
  /// rows, valid columns, adds: all i64) that stores or, if adds is not 0, adds the product of the panels to
  /// the valid part of c. Rows and columns that are valid can be more than a call computes.
  mlir::func::FuncOp multiply = {};
  /// What a kernel calls before and after all products, without arguments; null where there is nothing to do.
  mlir::func::FuncOp begin = {}, end = {};
};

/// Fused multiply-adds in vector registers, of factors of f32, or of f16, which are packed as f32
/// (FmaPanels.cpp, FmaMicroKernel.cpp).
ProductSizes fmaSizes(mlir::Type element);
ProductScheme fmaProducts(KernelModule &kernels, mlir::Type element, LaneOrder a, LaneOrder b);

/// Products of bf16 numbers, in the way of each level (Bf16Products.cpp). Sizes are one for all levels. They
/// have room for numbers packed as f32; on levels that take pairs of bf16 numbers, half a panel is filled.
ProductSizes bf16Sizes();
ProductScheme bf16Products(KernelModule &kernels, LaneOrder a, LaneOrder b);

/// f32 products on a matrix unit for bf16 (SplitPanels.cpp); see Fp32Products::Bf16x3.
ProductSizes splitSizes();
ProductScheme splitProducts(KernelModule &kernels, LaneOrder a, LaneOrder b);

} // namespace trainc::codegen
