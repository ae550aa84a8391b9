#include "test/emulator/libcudnn/graph.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace trainc::emulator {

namespace {

template <typename... Args>
Refusal refusal(cudnnStatus_t status, fmt::format_string<Args...> format, Args &&...args) {
  return {status, fmt::format(format, std::forward<Args>(args)...)};
}

bool isShort(const Tensor &tensor) {
  return tensor.type == CUDNN_DATA_HALF || tensor.type == CUDNN_DATA_BFLOAT16;
}

/// Further operands of a pointwise mode.
struct PointwiseForm {
  cudnnPointwiseMode_t mode;
  bool hasB, hasCondition;
};
constexpr PointwiseForm kForms[] = {
    {CUDNN_POINTWISE_ADD, true, false},        {CUDNN_POINTWISE_SUB, true, false},
    {CUDNN_POINTWISE_MUL, true, false},        {CUDNN_POINTWISE_DIV, true, false},
    {CUDNN_POINTWISE_CMP_GE, true, false},     {CUDNN_POINTWISE_EXP, false, false},
    {CUDNN_POINTWISE_LOG, false, false},       {CUDNN_POINTWISE_IDENTITY, false, false},
    {CUDNN_POINTWISE_GEN_INDEX, false, false}, {CUDNN_POINTWISE_BINARY_SELECT, true, true}};

class GraphReader {
public:
  std::optional<Refusal> read(const std::vector<std::shared_ptr<const Descriptor>> &operations) {
    for (const auto &each : operations) {
      if (!each->isFinal)
        return refusal(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "an operation is not finalized");
      if (auto why = add(*each))
        return why;
    }
    return checkUse();
  }

  OperationGraph graph;

private:
  std::optional<Refusal> add(const Descriptor &operation) {
    switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return add(operation, {.kind = NodeKind::Product}, CUDNN_ATTR_OPERATION_MATMUL_ADESC,
                 CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: {
      const auto how = operation.other(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
      return add(operation,
                 {.kind = NodeKind::Reduction,
                  .reduction = how->one<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR)},
                 CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    }
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return add(operation, {.kind = NodeKind::Reshape}, CUDNN_ATTR_OPERATION_RESHAPE_XDESC,
                 CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
      const auto how = operation.other(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      return add(operation,
                 {.kind = NodeKind::Pointwise,
                  .mode = how->one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE),
                  .compute = how->one<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC),
                  .axis = how->one<int64_t>(CUDNN_ATTR_POINTWISE_AXIS, -1)},
                 CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                 CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
    }
    default:
      return refusal(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a descriptor of type {} is not an operation",
                     static_cast<int>(operation.type));
    }
  }

  std::optional<Refusal> add(const Descriptor &operation, Node node, cudnnBackendAttributeName_t x,
                             cudnnBackendAttributeName_t result,
                             std::optional<cudnnBackendAttributeName_t> b = std::nullopt,
                             std::optional<cudnnBackendAttributeName_t> condition = std::nullopt) {
    std::optional<Refusal> why;
    const auto note = [&](cudnnBackendAttributeName_t name) {
      const Tensor tensor = tensorOf(*operation.other(name));
      const auto [place, isNew] = graph.tensors.emplace(tensor.id, tensor);
      if (!isNew && !(place->second == tensor))
        why = refusal(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, "two tensors have the id {}", tensor.id);
      return tensor.id;
    };
    node.x = note(x);
    node.result = note(result);
    if (b && operation.has(*b))
      node.b = note(*b);
    if (condition && operation.has(*condition))
      node.condition = note(*condition);
    graph.nodes.push_back(node);
    return why ? why : checkNode(node);
  }

  std::optional<Refusal> checkNode(const Node &node) const {
    switch (node.kind) {
    case NodeKind::Product:
      return checkProduct(node);
    case NodeKind::Reduction:
      return checkReduction(node);
    case NodeKind::Reshape:
      return checkReshape(node);
    case NodeKind::Pointwise:
      return checkPointwise(node);
    }
    return std::nullopt;
  }

  std::optional<Refusal> checkProduct(const Node &node) const {
    const Tensor &a = graph.tensor(node.x), &b = graph.tensor(*node.b), &c = graph.tensor(node.result);
    const bool fits = a.sizes[0] == b.sizes[0] && a.sizes[0] == c.sizes[0] && a.sizes[1] == c.sizes[1] &&
                      a.sizes[1] % b.sizes[1] == 0 && a.sizes[2] == c.sizes[2] && a.sizes[3] == b.sizes[2] &&
                      b.sizes[3] == c.sizes[3];
    if (!fits)
      return refusal(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "the product of {} and {} into {} does not fit",
                     a.id, b.id, c.id);
    for (const Tensor *factor : {&a, &b})
      if (factor->isInMemory() && !isShort(*factor))
        return refusal(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "factor {} is in memory, not of 16 bits",
                       factor->id);
    return std::nullopt;
  }

  std::optional<Refusal> checkReduction(const Node &node) const {
    if (node.reduction != CUDNN_REDUCE_TENSOR_ADD && node.reduction != CUDNN_REDUCE_TENSOR_MAX)
      return refusal(CUDNN_STATUS_NOT_SUPPORTED, "reduction {} is not emulated",
                     static_cast<int>(node.reduction));
    const Tensor &x = graph.tensor(node.x), &y = graph.tensor(node.result);
    for (size_t i = 0; i < 4; ++i)
      if (x.sizes[i] % y.sizes[i] != 0)
        return refusal(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "the reduction of {} into {} does not fit",
                       x.id, y.id);
    return std::nullopt;
  }

  std::optional<Refusal> checkReshape(const Node &node) const {
    const Tensor &x = graph.tensor(node.x), &y = graph.tensor(node.result);
    if (x.count() != y.count() || x.hull() != y.hull())
      return refusal(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "{} has other elements in memory than {}", y.id,
                     x.id);
    return std::nullopt;
  }

  std::optional<Refusal> checkPointwise(const Node &node) const {
    const auto *form = std::ranges::find(kForms, node.mode, &PointwiseForm::mode);
    if (form == std::ranges::end(kForms))
      return refusal(CUDNN_STATUS_NOT_SUPPORTED, "pointwise mode {} is not emulated",
                     static_cast<int>(node.mode));
    if (form->hasB != node.b.has_value() || form->hasCondition != node.condition.has_value())
      return refusal(CUDNN_STATUS_BAD_PARAM, "pointwise mode {} has operands too many or too few",
                     static_cast<int>(node.mode));
    const bool isIndex = node.mode == CUDNN_POINTWISE_GEN_INDEX;
    if (isIndex != (node.axis >= 0) || node.axis > 3)
      return refusal(CUDNN_STATUS_BAD_PARAM, "pointwise mode {} with axis {}", static_cast<int>(node.mode),
                     node.axis);
    const Tensor &result = graph.tensor(node.result);
    for (const std::optional<int64_t> &id : {std::optional(node.x), node.b, node.condition})
      for (size_t i = 0; id && i < 4; ++i)
        if (const int64_t size = graph.tensor(*id).sizes[i]; size != result.sizes[i] && size != 1)
          return refusal(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "{} cannot be spread over {}", *id,
                         result.id);
    return checkPointwiseTypes(node, result);
  }

  std::optional<Refusal> checkPointwiseTypes(const Node &node, const Tensor &result) const {
    const auto isOf = [&](int64_t id, cudnnDataType_t type) { return graph.tensor(id).type == type; };
    const bool isFlag = node.mode == CUDNN_POINTWISE_CMP_GE;
    if ((isFlag || result.type == CUDNN_DATA_BOOLEAN || node.compute == CUDNN_DATA_BOOLEAN) &&
        !(isFlag && result.type == CUDNN_DATA_BOOLEAN && node.compute == CUDNN_DATA_BOOLEAN))
      return refusal(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "{} is computed as another type than it has",
                     node.result);
    if (node.condition && !isOf(*node.condition, CUDNN_DATA_BOOLEAN))
      return refusal(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "condition {} is not boolean", *node.condition);
    if (node.mode == CUDNN_POINTWISE_GEN_INDEX && result.type != CUDNN_DATA_INT32)
      return refusal(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "index {} is not of int32", node.result);
    if (node.compute == CUDNN_DATA_INT32 &&
        (!isOf(node.x, CUDNN_DATA_INT32) || (node.b && !isOf(*node.b, CUDNN_DATA_INT32))))
      return refusal(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "{} is computed in int32 of something else",
                     node.result);
    return std::nullopt;
  }

  /// Virtual tensors must be written before use, and used; host scalars are never written.
  std::optional<Refusal> checkUse() const {
    std::set<int64_t> made, used;
    for (const Node &node : graph.nodes) {
      for (const std::optional<int64_t> &id : {std::optional(node.x), node.b, node.condition})
        if (id) {
          used.insert(*id);
          if (graph.tensor(*id).isVirtual && !made.contains(*id))
            return refusal(CUDNN_STATUS_BAD_PARAM, "virtual tensor {} is read before it is made", *id);
        }
      if (graph.tensor(node.result).isByValue || !made.insert(node.result).second)
        return refusal(CUDNN_STATUS_BAD_PARAM, "tensor {} is made twice, or by value", node.result);
    }
    for (const auto &[id, tensor] : graph.tensors)
      if (tensor.isVirtual && !used.contains(id))
        return refusal(CUDNN_STATUS_BAD_PARAM, "virtual tensor {} is used by nothing", id);
    return std::nullopt;
  }
};

/// Whether attention engines support the graph: two products with a softmax between them, or the five
/// products of a gradient.
std::optional<Refusal> recognise(OperationGraph &graph, int major) {
  std::vector<const Node *> products;
  for (const Node &node : graph.nodes)
    if (node.kind == NodeKind::Product)
      products.push_back(&node);
  const auto has = [&](auto is) { return std::ranges::any_of(graph.nodes, is); };
  const bool hasExp = has(
      [](const Node &node) { return node.kind == NodeKind::Pointwise && node.mode == CUDNN_POINTWISE_EXP; });
  graph.isBackward = products.size() == 5;
  if (!hasExp || (products.size() != 2 && !graph.isBackward))
    return refusal(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "{} products are not attention",
                   products.size());
  const Tensor &query = graph.tensor(products[0]->x), &key = graph.tensor(*products[0]->b);
  const Tensor &value = graph.tensor(graph.isBackward ? *products[2]->b : *products[1]->b);
  const int64_t headSize = query.sizes[3], valueSize = graph.isBackward ? value.sizes[2] : value.sizes[3];
  const int64_t maximum = major == 9 ? 256 : 128;
  if (headSize % 8 != 0 || valueSize % 8 != 0 || headSize > maximum || valueSize > maximum)
    return refusal(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "heads of {} and {}, expected multiples of 8 up to {}",
                   headSize, valueSize, maximum);
  for (const auto &[id, tensor] : graph.tensors)
    if (tensor.isInMemory() && isShort(tensor) && tensor.strides[2] != 1 && tensor.strides[3] != 1)
      return refusal(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "tensor {} has gaps between the elements of a head",
                     id);
  graph.heads = query.sizes[0] * query.sizes[1];
  graph.queries = query.sizes[2];
  graph.keys = key.sizes[3];
  if (key.sizes[1] != query.sizes[1])
    graph.unsummed = graph.heads * graph.keys * (headSize + valueSize);
  for (const Node *product : products)
    graph.addsInAnyOrder |=
        graph.tensor(product->result).isInMemory() && !isShort(graph.tensor(product->result));
  return std::nullopt;
}

} // namespace

std::variant<OperationGraph, Refusal>
graphOf(const std::vector<std::shared_ptr<const Descriptor>> &operations, int major) {
  GraphReader reader;
  if (auto why = reader.read(operations))
    return *why;
  if (auto why = recognise(reader.graph, major))
    return *why;
  return std::move(reader.graph);
}

} // namespace trainc::emulator
