// An operation graph, and whether attention engines support it.
#pragma once

#include "test/emulator/libcudnn/tensor.h"

#include <map>
#include <variant>

namespace trainc::emulator {

enum class NodeKind { Product, Reduction, Reshape, Pointwise };

/// One operation; tensors are referred to by id.
struct Node {
  NodeKind kind;
  int64_t x = 0, result = 0;
  std::optional<int64_t> b = std::nullopt,
                         condition = std::nullopt; ///< further operands
  cudnnPointwiseMode_t mode{};
  cudnnReduceTensorOp_t reduction{};
  cudnnDataType_t compute{};
  int64_t axis = -1;
};

struct OperationGraph {
  std::map<int64_t, Tensor> tensors;
  std::vector<Node> nodes;
  bool isBackward = false;
  /// Whether f32 sums of the queries' gradients are in memory, so that blocks add to them in any order.
  bool addsInAnyOrder = false;
  /// Heads is batch size times number of heads.
  int64_t heads = 0, queries = 0, keys = 0;
  /// Elements of per-head gradients, before summing over heads that share keys.
  int64_t unsummed = 0;

  const Tensor &tensor(int64_t id) const { return tensors.at(id); }
};

/// The graph of finalized operations on a GPU of capability `major`; or an error or missing support.
std::variant<OperationGraph, Refusal>
graphOf(const std::vector<std::shared_ptr<const Descriptor>> &operations, int major);

} // namespace trainc::emulator
