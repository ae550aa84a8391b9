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

  /// Returns the offset of a head's queries in arrays of one number per query: [batch, heads, queries].
  mlir::Value statistics(Emitter &emit, mlir::Value batch, mlir::Value head) const;
  /// Rows of out: one for each sequence, query and head.
  int64_t rows() const { return batch * queries * heads; }

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

  /// Returns the first query, a multiple of `step`, that may attend to keys from `firstKey` on.
  mlir::Value firstQuery(Emitter &emit, mlir::Value firstKey, int64_t step) const;

  bool causal = false;
  int64_t shift = 0;    ///< keys - queries: query i attends to keys up to i + shift
  mlir::Value limit;    ///< i64 or null: query i attends to keys up to i + limit
  mlir::Value segments; ///< pointer or null
  mlir::Type segmentType;
  mlir::Value segmentBase; ///< i64, elements before the segments of this batch element
};

// The gradient of attention takes D = rowsum(dO O) - dlse of every query, which its first launch writes into
// scratch 0.

/// Bytes of D.
int64_t rowSumBytes(nn::AttentionGradOp op);
/// Arguments of the launch that writes D.
llvm::SmallVector<KernelParam> rowSumParams(nn::AttentionGradOp op, const KernelSummary &kernels);
/// Arguments of a launch that computes the gradients `results`.
llvm::SmallVector<KernelParam> gradientParams(nn::AttentionGradOp op, const KernelSummary &kernels,
                                              llvm::ArrayRef<unsigned> results);
/// Stores D of a row of `out`, given rowsum(dO O) of the row.
void storeRowSum(nn::AttentionGradOp op, KernelFunction &function, mlir::Value row, mlir::Value sum);

} // namespace trainc::codegen
