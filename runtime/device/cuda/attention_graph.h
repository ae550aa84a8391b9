// Attention as cuDNN graphs: operations, their order and their types.
#pragma once

#include "plan/schema/cudnn_attention.h"
#include "runtime/device/cuda/cudnn_graph.h"

namespace trainc {

/// Ids of tensors that are host scalars or lie in the workspace. Operands use their AttentionOperand as id.
enum AttentionExtra : int64_t {
  kAttentionScale = 100,
  kAttentionHidden, ///< score of a masked position
  kAttentionOne,
  kAttentionQueries,
  kAttentionKeys,
  kAttentionSums ///< row sums of out times its gradient, per head
};

/// `values` is the type of all tensors but the sums and the log-sum-exp.
void buildAttention(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes, cudnnDataType_t values);
void buildAttentionGradient(CudnnGraphBuilder &graph, const CudnnAttentionSizes &sizes,
                            cudnnDataType_t values);

} // namespace trainc
