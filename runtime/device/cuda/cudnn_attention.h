// A plan's attention, or its gradient, as a graph of cuDNN's.
//
// cuDNN knows attention by its graph: products, scaling, the causal mask, the softmax, with nothing between
// them in memory. The tensors are [batch, heads, positions, size], whose strides say how plans have them;
// keys are transposed, and in the gradient values too. The log-sum-exp is the plan's.
//
// The gradient's graph has no tensor for sums in f32 of the queries' gradients: with one, cuDNN would add to
// it with atomics, in no order. It has one for the sums of out times its gradient, at the workspace's
// beginning.
#pragma once

#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/cuda/cudnn_graph.h"
#include "runtime/device/program.h"
#include "runtime/schema/cudnn_attention.h"

#include <memory>

namespace trainc {

/// One call, with the engine that it keeps for the whole run.
class CudnnAttention {
public:
  /// `operands` are the call's, in the order of AttentionOperand. Fails (kInvalidInput) when cuDNN has no
  /// such attention on this GPU, or none that does with the workspace.
  static Result<CudnnAttention> create(const CudnnHandle &handle, const CudaContext &context,
                                       const fb::Attention &call, std::span<const Address> operands);

  /// Puts it on the handle's stream, for one iteration of its operands.
  Status enqueue(const CudnnHandle &handle, std::span<const Address> operands, uint64_t iteration);

  /// What results depend on beside numbers: "engine 5, knobs 24=31 14=2".
  const std::string &engine() const { return engine_; }

private:
  /// Numbers that graphs take from the host.
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
  std::unique_ptr<Constants> constants_; ///< where it stays
  std::vector<CudnnDescriptor> graph_;   ///< and all that it consists of
  std::vector<CudnnDescriptor> plan_;    ///< the engine's configuration, then the plan; empty until chosen
  std::string engine_;
  uint64_t leastBytes_ = ~uint64_t{0}; ///< that an engine wanted which was not taken
};

} // namespace trainc
