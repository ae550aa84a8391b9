// Panels and micro-kernel of products by fused multiply-adds. The layout of a panel of A is [term][lane]; of
// B it is [register tile][term][lane], so that the part that a register tile reads stays in the L1 cache.
// bf16 and f16 numbers are widened to f32 in panels. On levels with instructions for pairs of bf16 numbers,
// panels have pairs of terms instead. f32 rows of A with contiguous terms need no panels: the micro-kernel
// broadcasts their numbers one by one anyway.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/Levels.h"

namespace trainc::codegen::fma {

inline constexpr int64_t kPanelRows = 8, kPanelColumns = 48, kDepthBlock = 256;

inline constexpr int64_t kLineBytes = 64; ///< bytes of a cache line

/// Factors of products, in memory and in panels.
struct Factors {
  mlir::Type element; ///< in memory
  bool pairs = false; ///< whether panels have pairs of terms, of bf16 numbers

  /// Returns a panel's type per lane and term; i32 for pairs.
  mlir::Type word() const;
  /// Number of terms per word.
  int64_t wordTerms() const { return pairs ? 2 : 1; }
};

/// Returns the sizes for panels of `packedBytes` per element. A call of the micro-kernel computes one panel
/// of each side.
ProductSizes sizes(int64_t packedBytes);

/// Returns the name of a packing function.
std::string packName(mlir::Type element, Side side, LaneOrder order);

/// Fills a function ProductScheme::packA or packB. `width` is the lanes of a register tile; for A,
/// kPanelRows.
void pack(Emitter &emit, mlir::func::FuncOp function, const Factors &factors, LaneOrder order, int64_t width,
          const ProductSizes &sizes);

/// Fills a function ProductScheme::multiply for a level; it must fit the level's registers exactly.
void multiply(Emitter &emit, mlir::func::FuncOp function, const Factors &factors, const Level &level,
              const ProductSizes &sizes);

} // namespace trainc::codegen::fma
