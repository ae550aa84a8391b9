#include "test/emulator/libcudnn/interpreter.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace trainc::emulator {

namespace {

class Interpreter {
public:
  Interpreter(const OperationGraph &graph, const Arguments &arguments)
      : graph_(graph), arguments_(arguments) {}

  std::optional<std::string> run() {
    for (const Node &node : graph_.nodes) {
      for (const std::optional<int64_t> &id : {std::optional(node.x), node.b, node.condition})
        if (id)
          if (auto why = load(*id))
            return why;
      const Tensor &result = graph_.tensor(node.result);
      Elements elements = compute(node, result);
      for (float &each : elements)
        each = roundedTo(result.type, each);
      if (result.isInMemory())
        if (auto why = writeTo(arguments_.addresses.at(result.id), result, elements))
          return why;
      values_[node.result] = std::move(elements);
    }
    return std::nullopt;
  }

private:
  /// Loads a tensor that no node has computed: from memory, or a host scalar.
  std::optional<std::string> load(int64_t id) {
    if (values_.contains(id))
      return std::nullopt;
    const Tensor &tensor = graph_.tensor(id);
    if (tensor.isByValue) {
      values_[id] = {arguments_.numbers.at(id)};
      return std::nullopt;
    }
    return readFrom(arguments_.addresses.at(id), tensor, values_[id]);
  }

  Elements compute(const Node &node, const Tensor &result) const {
    switch (node.kind) {
    case NodeKind::Product:
      return multiply(node, result);
    case NodeKind::Reduction:
      return reduce(node, result);
    case NodeKind::Reshape:
      return reshape(node, result);
    case NodeKind::Pointwise:
      break;
    }
    return pointwise(node, result);
  }

  /// Consecutive heads of x share one of b.
  Elements multiply(const Node &node, const Tensor &result) const {
    const Tensor &a = graph_.tensor(node.x), &b = graph_.tensor(*node.b);
    const Elements &left = values_.at(node.x), &right = values_.at(*node.b);
    Elements sums(static_cast<size_t>(result.count()));
    const int64_t rows = a.sizes[2], depth = a.sizes[3], columns = b.sizes[3];
    const int64_t shared = a.sizes[1] / b.sizes[1];
    for (int64_t matrix = 0; matrix < a.sizes[0] * a.sizes[1]; ++matrix) {
      const float *from = right.data() + matrix / shared * depth * columns;
      for (int64_t row = 0; row < rows; ++row) {
        float *to = sums.data() + (matrix * rows + row) * columns;
        for (int64_t step = 0; step < depth; ++step) {
          const float factor = left[static_cast<size_t>((matrix * rows + row) * depth + step)];
          for (int64_t column = 0; column < columns; ++column)
            to[column] = std::fma(factor, from[step * columns + column], to[column]);
        }
      }
    }
    return sums;
  }

  /// Reduces consecutive elements along each dimension.
  Elements reduce(const Node &node, const Tensor &result) const {
    const Tensor &x = graph_.tensor(node.x);
    const Elements &values = values_.at(node.x);
    const bool isSum = node.reduction == CUDNN_REDUCE_TENSOR_ADD;
    Elements reduced(static_cast<size_t>(result.count()),
                     isSum ? 0.0F : -std::numeric_limits<float>::infinity());
    forEachPlace(x.sizes, [&](const Dimensions &at, int64_t number) {
      Dimensions to{};
      for (size_t i = 0; i < 4; ++i)
        to[i] = at[i] / (x.sizes[i] / result.sizes[i]);
      float &sum = reduced[index(result, to)];
      const float value = values[static_cast<size_t>(number)];
      sum = isSum ? sum + value : std::max(sum, value);
    });
    return reduced;
  }

  Elements reshape(const Node &node, const Tensor &result) const {
    const Tensor &x = graph_.tensor(node.x);
    Elements memory(static_cast<size_t>(x.hull())), turned(static_cast<size_t>(result.count()));
    forEachPlace(x.sizes, [&](const Dimensions &at, int64_t number) {
      memory[static_cast<size_t>(x.offset(at))] = values_.at(node.x)[static_cast<size_t>(number)];
    });
    forEachPlace(result.sizes, [&](const Dimensions &at, int64_t number) {
      turned[static_cast<size_t>(number)] = memory[static_cast<size_t>(result.offset(at))];
    });
    return turned;
  }

  /// A tensor broadcast to the sizes of another.
  struct Spread {
    const Tensor *tensor;
    const Elements *elements;
    float at(const Dimensions &place) const { return (*elements)[index(*tensor, place)]; }
  };

  Elements pointwise(const Node &node, const Tensor &result) const {
    const auto spread = [&](int64_t id) { return Spread{&graph_.tensor(id), &values_.at(id)}; };
    const Spread x = spread(node.x), b = spread(node.b.value_or(node.x)),
                 condition = spread(node.condition.value_or(node.x));
    Elements elements(static_cast<size_t>(result.count()));
    forEachPlace(result.sizes, [&](const Dimensions &at, int64_t number) {
      elements[static_cast<size_t>(number)] =
          node.mode == CUDNN_POINTWISE_GEN_INDEX
              ? static_cast<float>(at[static_cast<size_t>(node.axis)])
              : apply(node.mode, x.at(at), b.at(at), condition.at(at) != 0);
    });
    return elements;
  }

  static float apply(cudnnPointwiseMode_t mode, float x, float b, bool condition) {
    switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b ? 1 : 0;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_BINARY_SELECT:
      return condition ? x : b;
    default: // IDENTITY; other modes were rejected
      return x;
    }
  }

  /// Index in this tensor of a position in another one, to which this one is broadcast.
  static size_t index(const Tensor &tensor, const Dimensions &at) {
    int64_t number = 0;
    for (size_t i = 0; i < 4; ++i)
      number = number * tensor.sizes[i] + (tensor.sizes[i] == 1 ? 0 : at[i]);
    return static_cast<size_t>(number);
  }

  const OperationGraph &graph_;
  const Arguments &arguments_;
  std::map<int64_t, Elements> values_;
};

} // namespace

std::optional<std::string> interpret(const OperationGraph &graph, const Arguments &arguments) {
  return Interpreter(graph, arguments).run();
}

} // namespace trainc::emulator
