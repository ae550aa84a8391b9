// Sizes of attention.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::codegen {

/// Sizes of an attention or its gradient.
struct AttentionSizes {
  explicit AttentionSizes(nn::AttentionOp op);
  explicit AttentionSizes(nn::AttentionGradOp op);

  mlir::Type element; ///< of q, k, v and out
  int64_t batch, queries, keys, heads, keyHeads, depth, valueWidth;
  std::optional<double> softcap; ///< of scaled scores
  std::optional<double> alibi;   ///< factor of the slopes
  std::optional<double> dropout; ///< probability that a weight is dropped

  /// Number of query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  int64_t widest() const { return std::max(depth, valueWidth); }
  /// Returns the scalar instructions per score, besides products of `flops` in total. Each score takes part
  /// in `byDepth` products over the head size of q and k and `byValue` products over that of v.
  int64_t scoreArithmetic(int64_t flops, int64_t byDepth, int64_t byValue) const {
    // Scale, mask, maximum, exponential and sum; tanh; ten rounds of Philox on 64-bit lanes.
    const int64_t ofScore = 20 + (softcap ? 20 : 0) + (alibi ? 3 : 0) + (dropout ? 200 : 0);
    return flops / (2 * (byDepth * depth + byValue * valueWidth)) * ofScore;
  }

  /// Rows of out: one for each sequence, query and head.
  int64_t rows() const { return batch * queries * heads; }

private:
  AttentionSizes(mlir::Value q, mlir::Value k, mlir::Value v, int64_t heads, int64_t keyHeads);
  template <typename Op> void takeForms(Op op);
};

} // namespace trainc::codegen
