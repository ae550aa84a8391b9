#include "Arguments.h"

#include <random>

using namespace mlir;
using namespace trainc;
using reference::Tensor;
using reference::Tensors;

/// A number in [0, 1) with 53 random bits. (The distributions of <random> differ between libraries.)
static double unit(std::mt19937_64 &generator) { return double(generator() >> 11) * 0x1p-53; }

Tensor check::drawReals(RankedTensorType type, double low, double high, unsigned number) {
  std::mt19937_64 generator(number);
  Tensor tensor(type);
  for (double &real : tensor.reals)
    real = low + (high - low) * unit(generator);
  tensor.roundShortNumbers();
  return tensor;
}

Tensor check::drawIntegers(RankedTensorType type, int64_t low, int64_t end, unsigned number) {
  std::mt19937_64 generator(number);
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.setInteger(i, low + int64_t(unit(generator) * double(end - low)));
  return tensor;
}

/// The two numbers of an array attribute, floats or integers.
template <typename Number> static std::optional<std::pair<Number, Number>> pairOf(Attribute attribute) {
  using NumberAttr = std::conditional_t<std::is_same_v<Number, double>, FloatAttr, IntegerAttr>;
  auto array = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!array || array.size() != 2 || !llvm::all_of(array, llvm::IsaPred<NumberAttr>))
    return std::nullopt;
  auto number = [&](unsigned i) -> Number {
    if constexpr (std::is_same_v<Number, double>)
      return cast<FloatAttr>(array[i]).getValueAsDouble();
    else
      return cast<IntegerAttr>(array[i]).getInt();
  };
  return std::pair{number(0), number(1)};
}

static FailureOr<Tensor> drawArgument(func::FuncOp function, unsigned index) {
  auto type = dyn_cast<RankedTensorType>(function.getArgument(index).getType());
  auto problem = [&] { return function.emitError("argument ") << index << ": "; };
  if (!type || !type.hasStaticShape())
    return problem() << "expected a static tensor, found " << function.getArgument(index).getType();
  if (Attribute values = function.getArgAttr(index, "check.values")) {
    auto literal = dyn_cast<DenseElementsAttr>(values);
    if (!literal || literal.getType().getShape() != type.getShape())
      return problem() << "check.values must be a dense literal of shape " << type.getShape();
    return Tensor(type, literal);
  }
  if (isa<FloatType>(type.getElementType())) {
    Attribute attribute = function.getArgAttr(index, "check.range");
    auto range = attribute ? pairOf<double>(attribute) : std::pair{-1.0, 1.0};
    if (!range)
      return problem() << "check.range must be [low, high], two floats";
    return check::drawReals(type, range->first, range->second, index + 1);
  }
  Attribute attribute = function.getArgAttr(index, "check.integers");
  auto range = type.getElementType().isInteger(1) && !attribute ? std::pair{int64_t(0), int64_t(2)}
                                                                : pairOf<int64_t>(attribute);
  if (!range)
    return problem() << "integers need check.integers = [low, end] or check.values";
  return check::drawIntegers(type, range->first, range->second, index + 1);
}

FailureOr<Tensors> check::drawArguments(func::FuncOp function) {
  Tensors arguments;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    FailureOr<Tensor> argument = drawArgument(function, index);
    if (failed(argument))
      return failure();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}
