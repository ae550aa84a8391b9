// --gradients: vector-Jacobian products against central differences.
#include "Arguments.h"
#include "Comparison.h"
#include "Modes.h"
#include "Rounding.h"

#include "dialects/NN/NN.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace trainc;
using reference::Tensor;
using reference::Tensors;

/// Whether the value is a tensor of floats.
static bool isReal(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

namespace {

/// The reverse sweep over one block.
class Sweep {
public:
  explicit Sweep(Operation *terminator) : builder_(terminator) {}

  void add(Value value, Value cotangent) {
    Value &sum = cotangents_[value];
    sum = sum ? nn::AddOp::create(builder_, value.getLoc(), sum, cotangent).getResult() : cotangent;
  }

  /// Adds the cotangents of the op's operands. Ops without the interface count as constants.
  void visit(Operation &op) {
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return;
    SmallVector<Value> results, operands(op.getNumOperands());
    for (Value result : op.getResults())
      results.push_back(cotangents_.lookup(result));
    if (llvm::none_of(results, [](Value cotangent) { return bool(cotangent); }))
      return;
    SmallVector<bool> needed(llvm::map_range(op.getOperands(), isReal));
    differentiable.buildVjp(builder_, results, needed, operands);
    for (auto [operand, cotangent] : llvm::zip(op.getOperands(), operands))
      if (cotangent)
        add(operand, cotangent);
  }

  Value cotangentOf(Value value) {
    if (Value cotangent = cotangents_.lookup(value))
      return cotangent;
    auto type = cast<RankedTensorType>(value.getType());
    return nn::ConstantOp::create(builder_, value.getLoc(), builder_.getF64FloatAttr(0), TypeAttr::get(type));
  }

private:
  OpBuilder builder_;
  DenseMap<Value, Value> cotangents_;
};

} // namespace

/// Builds the reverse-mode derivative of a function by its ops' DifferentiableOpInterface. It takes the
/// arguments of `function` and one cotangent per float result, and returns one cotangent per float argument
/// (zeros for arguments without influence).
static OwningOpRef<func::FuncOp> buildVjp(func::FuncOp function, ArrayRef<unsigned> wanted) {
  OwningOpRef<func::FuncOp> vjp = function.clone();
  Block &block = vjp->getBody().front();
  Operation *terminator = block.getTerminator();
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    forward.push_back(&op);

  Sweep sweep(terminator);
  for (Value result : terminator->getOperands())
    if (isReal(result))
      sweep.add(result, block.addArgument(result.getType(), result.getLoc()));
  for (Operation *op : llvm::reverse(forward))
    sweep.visit(*op);
  SmallVector<Value> gradients;
  for (unsigned argument : wanted)
    gradients.push_back(sweep.cotangentOf(block.getArgument(argument)));
  terminator->setOperands(gradients);
  vjp->removeResAttrsAttr();
  vjp->removeArgAttrsAttr();
  vjp->setFunctionType(
      FunctionType::get(vjp->getContext(), block.getArgumentTypes(), terminator->getOperandTypes()));
  return vjp;
}

namespace {

/// The scalar <weights, results>, summed over float results; its gradient is compared.
FailureOr<double> weightedSum(func::FuncOp function, const Tensors &arguments, const Tensors &weights) {
  FailureOr<Tensors> results = reference::runBlock(function.getBody().front(), arguments);
  if (failed(results))
    return failure();
  double sum = 0;
  auto weight = weights.begin();
  for (const Tensor &result : *results) {
    if (!result.isFloat())
      continue;
    for (int64_t i = 0; i < result.elements(); ++i)
      sum += weight->reals[i] * result.reals[i];
    ++weight;
  }
  return sum;
}

/// (f(x + h) - f(x - h)) / 2h for every element of one argument.
FailureOr<Tensor> differences(func::FuncOp function, Tensors arguments, size_t argument,
                              const Tensors &weights) {
  constexpr double step = 1e-5;
  Tensor gradient(arguments[argument].type());
  for (int64_t i = 0; i < gradient.elements(); ++i) {
    double &x = arguments[argument].reals[i];
    double centre = x;
    x = centre + step;
    FailureOr<double> above = weightedSum(function, arguments, weights);
    x = centre - step;
    FailureOr<double> below = weightedSum(function, arguments, weights);
    x = centre;
    if (failed(above) || failed(below))
      return failure();
    gradient.reals[i] = (*above - *below) / (2 * step);
  }
  return gradient;
}

/// One random weight per element of each float result; they are the results' cotangents.
Tensors drawWeights(func::FuncOp function) {
  Tensors weights;
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    if (isReal(result))
      weights.push_back(
          check::drawReals(cast<RankedTensorType>(result.getType()), -1, 1, 1000 + weights.size()));
  return weights;
}

} // namespace

/// The arguments whose gradients are compared.
static SmallVector<unsigned> comparedArguments(func::FuncOp function) {
  SmallVector<unsigned> compared;
  for (BlockArgument argument : function.getArguments())
    if (isReal(argument) && !function.getArgAttr(argument.getArgNumber(), "check.constant"))
      compared.push_back(argument.getArgNumber());
  return compared;
}

check::Check check::checkGradients(func::FuncOp function) {
  Tensors weights = drawWeights(function);
  SmallVector<unsigned> compared = comparedArguments(function);
  Block &block = function.getBody().front();
  if (function->hasAttr("check.no_gradients") || weights.empty() || compared.empty() ||
      llvm::any_of(block.getArguments(), isShort) ||
      llvm::any_of(block.getTerminator()->getOperands(), isShort))
    return std::optional<Outcome>();
  FailureOr<Tensors> arguments = drawArguments(function);
  OwningOpRef<func::FuncOp> vjp = buildVjp(function, compared);
  if (failed(arguments) || failed(verify(*vjp)))
    return failure();
  Tensors inputs = *arguments, expected;
  llvm::append_range(inputs, weights);
  FailureOr<Tensors> actual = reference::runBlock(vjp->getBody().front(), std::move(inputs));
  if (failed(actual))
    return failure();
  for (unsigned argument : compared) {
    FailureOr<Tensor> gradient = differences(function, *arguments, argument, weights);
    if (failed(gradient))
      return failure();
    expected.push_back(std::move(*gradient));
  }
  // Differences carry an absolute error of about 1e-10, hence the floor of the scale.
  return std::optional(
      Outcome{tensorError(*actual, expected, 1e-3), numberOf(function, "check.gradient_tolerance", 1e-6)});
}
