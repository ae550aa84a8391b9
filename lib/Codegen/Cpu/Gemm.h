// Building blocks of matrix products (Goto and van de Geijn 2008; Van Zee and van de Geijn 2015).
//
// A panel holds some rows of op(A) or columns of op(B), called lanes. The micro-kernel multiplies a panel of
// A by one of B and keeps the sums in registers.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Layout of a panel's lanes before packing. Adjacent: lanes are contiguous, and terms are a stride apart.
/// Strided: terms are contiguous, and lanes are a stride apart.
enum class LaneOrder { Adjacent, Strided };

/// Whether lanes are rows of A or columns of B.
enum class Side { A, B };

/// Sizes of one way to compute products.
struct ProductSizes {
  int64_t panelRows, panelColumns; ///< lanes of panels
  int64_t callRows,
      callColumns; ///< maximum rows and columns of one call of the micro-kernel, in whole panels
  /// Number of terms that are packed at a time. Every element is summed in the order of its terms within a
  /// block and then over blocks, so that bits depend on the depth only, not on tiles, threads or levels.
  int64_t depthBlock;
  int64_t tileRows, tileColumns; ///< maximum rows and columns of C per tile, which one thread computes; B's
                                 ///< part stays in L2
  int64_t packedBytes;           ///< of one element in a panel
  bool packsA = true;            ///< whether rows of A are packed, or read in place

  /// Bytes of a panel per lane. Slightly more than its terms need, so that panels do not map to one set of
  /// the cache. Panels of a multiple of 8 lanes are aligned to cache lines.
  int64_t laneStride() const { return depthBlock * packedBytes + 8; }
  /// Bytes between panels.
  int64_t panelStride(int64_t lanes) const { return laneStride() * lanes; }
};

/// One way to compute products: its sizes, and functions that are created at their first use.
struct ProductScheme : ProductSizes {
  /// Pack lanes into panels. Private functions (to, from: pointers; stride, lanes, depth: i64). Contents of
  /// unused lanes of the last panel are arbitrary, because their products are not stored.
  mlir::func::FuncOp packA = {}, packB = {};
  /// The micro-kernel. A private function (a, b: packed panels, c, nextA, nextB: pointers, depth, row stride
  /// of c, valid rows, valid columns, adds, row stride of A, distance in B: all i64) that stores the product
  /// of the panels to the valid part of c or, if adds is not 0, adds it. More rows and columns can be valid
  /// than a call computes. Without packsA, a is the first row in place. The function may prefetch depth
  /// elements from nextA on, and a row stride further; and as many from nextB on, and the distance further.
  mlir::func::FuncOp multiply = {};
  /// Called by a kernel before and after all products, without arguments; null if there is nothing to do.
  mlir::func::FuncOp begin = {}, end = {};
};

/// Fused multiply-adds in vector registers, for f32 factors or f16 factors packed as f32 (FmaPanels.cpp,
/// FmaMicroKernel.cpp). Rows of A with contiguous f32 terms are read in place.
ProductSizes fmaSizes(mlir::Type element, LaneOrder a);
ProductScheme fmaProducts(KernelModule &kernels, mlir::Type element, LaneOrder a, LaneOrder b);

/// Products of bf16 factors, computed in a different way on each level (Bf16Products.cpp). Sizes are the same
/// for all levels: panels have room for f32 numbers, and levels with bf16 pairs use half of it.
ProductSizes bf16Sizes();
ProductScheme bf16Products(KernelModule &kernels, LaneOrder a, LaneOrder b);

/// f32 products on a bf16 matrix unit (SplitPanels.cpp); see Fp32Products::Bf16x3.
ProductSizes splitSizes();
ProductScheme splitProducts(KernelModule &kernels, LaneOrder a, LaneOrder b);

} // namespace trainc::codegen
