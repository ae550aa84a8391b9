// Attention of a plan, or its gradient, as a cuDNN graph.
//
// cuDNN recognises attention by its graph: products, scaling, causal mask and softmax, whose intermediate
// tensors are never in memory. Tensors are [batch, heads, positions, size]; strides describe the plan's
// layout. Keys are transposed; in the gradient values are, too. The log-sum-exp is that of the plan.
//
// The gradient's graph has no f32 tensor for sums of the queries' gradients: with one, cuDNN would accumulate
// by atomics, in no fixed order. It has one for the sums of out times its gradient, at the begin of the
// workspace.
#pragma once

#include "plan/schema/cudnn_attention.h"
#include "runtime/cuda/cuda_context.h"
#include "runtime/device/cuda/cudnn_graph.h"
#include "runtime/device/program.h"

#include <memory>

namespace trainc {

/// One attention call, with the engine it uses for the whole run.
class CudnnAttention {
public:
  /// `operands` are in the order of AttentionOperand. Fails with kInvalidInput if cuDNN does not support this
  /// attention on this GPU, or only with a larger workspace.
  static Result<CudnnAttention> create(const CudnnHandle &handle, const CudaContext &context,
                                       const fb::Attention &call, std::span<const Address> operands);

  /// Enqueues one iteration on the handle's stream.
  Status enqueue(const CudnnHandle &handle, std::span<const Address> operands, uint64_t iteration);

  /// Engine and knobs, on which the bits of results depend: "engine 5, knobs 24=31 14=2".
  const std::string &engine() const { return engine_; }

private:
  /// Host scalars of the graph.
  struct Constants {
    float scale = 1, hidden = 0, one = 1;
    int32_t queries = 0, keys = 0;
  };

  explicit CudnnAttention(const fb::Attention &call);
  Status describe(const CudnnHandle &handle);
  Status chooseEngine(const CudnnHandle &handle, const CudaContext &context);
  Status tryEngines(const CudnnHandle &handle, cudnnBackendHeurMode_t mode);
  Status tryFixedEngine(const CudnnHandle &handle);
  Status tryEngine(const CudnnHandle &handle, CudnnDescriptor configuration);
  const CudnnDescriptor &graph() const { return graph_.back(); }

  const fb::Attention *call_;
  CudnnAttentionSizes sizes_;
  std::unique_ptr<Constants> constants_; ///< allocated separately, so that addresses stay stable
  std::vector<CudnnDescriptor> graph_;   ///< the graph and all descriptors it consists of
  std::vector<CudnnDescriptor> plan_;    ///< engine configuration and execution plan; empty until chosen
  std::string engine_;
  uint64_t minBytes_ = ~uint64_t{0}; ///< minimum workspace of the engines that were rejected
};

} // namespace trainc
