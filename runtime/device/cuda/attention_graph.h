// Attention as cuDNN's engines know it: which operations follow each other, and of which types.
#pragma once

#include "runtime/device/cuda/cudnn_graph.h"
#include "runtime/schema/cudnn_attention.h"

namespace trainc {

/// Ids of what a graph takes from the host and keeps in the workspace; those of operands are their places
/// (AttentionOperand).
enum AttentionExtra : int64_t {
  kAttentionScale = 100,
  kAttentionHidden, ///< a score that has no weight
  kAttentionOne,
  kAttentionQueries,
  kAttentionKeys,
  kAttentionSums ///< of out times its gradient, over a head's numbers
};

/// `values` is the type of all tensors but the sums and the log-sum-exp.
void buildAttention(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes, cudnnDataType_t values);
void buildAttentionGradient(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes,
                            cudnnDataType_t values);

} // namespace trainc
