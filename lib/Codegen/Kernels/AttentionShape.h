// Sizes of attention, layout of its heads' rows, and masks.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Rows of one head in a tensor [batch, positions, heads * width].
struct HeadRows {
  mlir::Value base;   ///< pointer
  mlir::Type element; ///< type in memory
  mlir::Value offset; ///< i64, elements before the first row
  int64_t stride;     ///< elements between rows
  int64_t width;      ///< elements of a row

  /// Returns the rows from `first` on.
  HeadRows from(Emitter &emit, mlir::Value first) const;
};

/// Sizes of an attention or its gradient, and the layout of its heads' rows.
struct AttentionShape {
  explicit AttentionShape(nn::AttentionOp op);
  explicit AttentionShape(nn::AttentionGradOp op);

  mlir::Type element; ///< of q, k, v and out
  int64_t batch, queries, keys, heads, keyHeads, depth, valueWidth;

  /// Number of query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  int64_t widest() const { return std::max(depth, valueWidth); }
  /// Returns the scalar instructions per score, besides products of `flops` in total. Each score takes part
  /// in `byDepth` products over the head size of q and k and `byValue` products over that of v.
  int64_t scoreArithmetic(int64_t flops, int64_t byDepth, int64_t byValue) const {
    constexpr int64_t kOfScore = 20; // scale, mask, maximum, exponential and sum
    return flops / (2 * (byDepth * depth + byValue * valueWidth)) * kOfScore;
  }

  /// Return the rows of q (or dq), k, v and out for one sequence of the batch and one head.
  HeadRows queryRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;
  HeadRows keyRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows valueRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows outRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;

private:
  AttentionShape(mlir::Value q, mlir::Value k, mlir::Value v, int64_t heads, int64_t keyHeads);
};

/// Mask of query-key pairs.
struct Visibility {
  Visibility() = default;
  /// Loads the limit at the insertion point. The tile sets `segmentBase`.
  Visibility(nn::AttentionOp op, KernelFunction &function);
  Visibility(nn::AttentionGradOp op, KernelFunction &function);

  bool causal = false;
  int64_t shift = 0;    ///< keys - queries: query i attends to keys up to i + shift
  mlir::Value limit;    ///< i64 or null: query i attends to keys up to i + limit
  mlir::Value segments; ///< pointer or null
  mlir::Type segmentType;
  mlir::Value segmentBase; ///< i64, elements before the segments of this batch element
};

/// Arguments of the launch that writes D = rowsum(dO O) - dlse, of every query, into scratch 0.
llvm::SmallVector<KernelParam> rowSumParams(nn::AttentionGradOp op, const KernelSummary &kernels);
/// The pointer to `dlse`; null if the op has none.
mlir::Value logSumExpGradient(nn::AttentionGradOp op, KernelFunction &function);

} // namespace trainc::codegen
