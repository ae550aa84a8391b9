// The sizes of attention, where the rows of its heads lie, and which queries see which keys.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Rows of a tensor [batch, positions, heads * width], as one head sees them.
struct HeadRows {
  mlir::Value base;   ///< pointer
  mlir::Type element; ///< as it lies in memory
  mlir::Value offset; ///< i64, elements before the first row
  int64_t stride;     ///< elements from row to row
  int64_t width;      ///< elements of a row

  /// The rows from `first` on.
  HeadRows from(Emitter &emit, mlir::Value first) const;
};

/// The sizes of an attention or its gradient, and where the rows of its heads lie.
struct AttentionShape {
  explicit AttentionShape(nn::AttentionOp op);
  explicit AttentionShape(nn::AttentionGradOp op);

  mlir::Type element; ///< of all these tensors
  int64_t batch, queries, keys, heads, keyHeads, depth, valueWidth;

  /// Query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  int64_t widest() const { return std::max(depth, valueWidth); }
  /// Instructions on scores besides products, which take `flops`: each score is the border of `byDepth`
  /// products along a query and of `byValue` along a value.
  int64_t scoreArithmetic(int64_t flops, int64_t byDepth, int64_t byValue) const {
    constexpr int64_t kOfScore = 20; // its scale and mask, the largest, an exponential and the sum
    return flops / (2 * (byDepth * depth + byValue * valueWidth)) * kOfScore;
  }

  /// Rows of q (or dq), k, v and out of a sequence of the batch and a head of that tensor.
  HeadRows queryRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;
  HeadRows keyRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows valueRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value keyHead) const;
  HeadRows outRows(Emitter &emit, mlir::Value base, mlir::Value batch, mlir::Value head) const;

private:
  AttentionShape(mlir::Value q, mlir::Value k, mlir::Value v, int64_t heads, int64_t keyHeads);
};

/// Which pairs of query and key see each other.
struct Visibility {
  Visibility() = default;
  /// Loads the limit at the insertion point. `segmentBase` is left to the tile.
  Visibility(nn::AttentionOp op, KernelFunction &function);
  Visibility(nn::AttentionGradOp op, KernelFunction &function);

  bool causal = false;
  int64_t shift = 0;    ///< keys - queries: query i sees keys up to i + shift
  mlir::Value limit;    ///< i64 or null: query i sees keys up to i + limit
  mlir::Value segments; ///< pointer or null
  mlir::Type segmentType;
  mlir::Value segmentBase; ///< i64, elements before this batch element's segments
};

} // namespace trainc::codegen
