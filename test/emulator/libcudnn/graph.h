// An operation graph: what it computes, and whether it is one that attention's engines know.
#pragma once

#include "test/emulator/libcudnn/tensor.h"

#include <map>
#include <variant>

namespace trainc::emulator {

enum class NodeKind { Product, Reduction, Reshape, Pointwise };

/// One operation. Tensors are told by their ids.
struct Node {
  NodeKind kind;
  int64_t x = 0, result = 0;
  std::optional<int64_t> b = std::nullopt,
                         condition =
                             std::nullopt; ///< a product's second factor; a pointwise operation's others
  cudnnPointwiseMode_t mode{};
  cudnnReduceTensorOp_t reduction{};
  cudnnDataType_t compute{};
  int64_t axis = -1;
};

struct OperationGraph {
  std::map<int64_t, Tensor> tensors;
  std::vector<Node> nodes;
  bool isBackward = false;
  /// Sums in f32 of the queries' gradients are in memory, so that blocks add to them in any order.
  bool addsInAnyOrder = false;
  /// Batches times heads, queries, keys.
  int64_t heads = 0, queries = 0, keys = 0;
  /// Of heads that share keys: their gradients' elements before they are summed.
  int64_t unsummed = 0;

  const Tensor &tensor(int64_t id) const { return tensors.at(id); }
};

/// The graph of finished operations, on a GPU of a capability; or what is wrong with it, or not supported.
std::variant<OperationGraph, Refusal>
graphOf(const std::vector<std::shared_ptr<const Descriptor>> &operations, int major);

} // namespace trainc::emulator
