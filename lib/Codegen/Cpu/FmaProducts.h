// Panels and micro-kernel of products by fused multiply-adds. A panel of A is [term][lane]; one of B is
// [register tile][term][lane], so that what a tile of registers reads of it stays in the first-level cache.
// bf16 and f16 numbers become f32 in panels; or, on levels that multiply pairs of bf16 numbers, a panel has
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
};

/// `packedBytes`: ProductSizes::packedBytes. A call of the micro-kernel computes one panel of each side.
ProductSizes sizes(int64_t packedBytes);

/// The name of a function that packs.
std::string packName(mlir::Type element, Side side, LaneOrder order);

/// Fills a function ProductScheme::packA or packB. `width`: lanes of a register tile; for A, kPanelRows.
void pack(Emitter &emit, mlir::func::FuncOp function, const Factors &factors, LaneOrder order, int64_t width,
          const ProductSizes &sizes);

/// Fills a function ProductScheme::multiply on a level, whose registers it must all use, and no more.
void multiply(Emitter &emit, mlir::func::FuncOp function, const Factors &factors, const Level &level,
              const ProductSizes &sizes);

} // namespace trainc::codegen::fma
