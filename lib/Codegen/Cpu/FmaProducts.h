// Panels and micro-kernel of products by fused multiply-adds. A panel of A is [term][lane]; one of B is
// [register tile][term][lane], so that what a tile of registers reads of it stays in the first-level cache.
// bf16 and f16 numbers become f32 in panels; or, where the CPU multiplies pairs of bf16 numbers, a panel has
// pairs of terms in place of terms.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/Levels.h"

namespace trainc::codegen::fma {

inline constexpr int64_t kPanelRows = 8, kPanelColumns = 48, kDepthBlock = 256;

inline constexpr int64_t kLineBytes = 64; ///< of the cache

/// The factors of products, in memory and in panels.
struct Factors {
  mlir::Type element; ///< in memory
  bool pairs = false; ///< whether panels have pairs of terms: of bf16 numbers

  /// What a panel has of a lane and a term; for pairs, 32 bits.
  mlir::Type word() const;
  /// How many terms that are.
  int64_t wordTerms() const { return pairs ? 2 : 1; }
  /// The levels that differ in the code for them, and what they are on one.
  std::vector<Level> levels(KernelModule &kernels) const;
  Factors on(const Level &level) const;
};

/// Panels of B are as wide as the level's register tiles. `laneStride`: ProductScheme::laneStride(), in
/// words.
mlir::func::FuncOp packPanels(KernelModule &kernels, const Factors &factors, Side side, LaneOrder order,
                              int64_t laneStride);

/// Differs between instruction-set levels, since it must use all registers and no more.
mlir::func::FuncOp microKernel(KernelModule &kernels, const Factors &factors, int64_t laneStride);

} // namespace trainc::codegen::fma
