#include "KernelReference.h"

#include "Arguments.h"
#include "Buffer.h"
#include "Comparison.h"
#include "Rounding.h"

#include "dialects/NN/NN.h"
#include "lib/Reference/Interpreter.h"
#include "lib/Step/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Tensor;
using reference::Tensors;

/// Replaces a kernel by its ops.
static void inlineKernel(nn::KernelOp kernel) {
  OpBuilder builder(kernel);
  Block &body = kernel.getBody().front();
  IRMapping values;
  values.map(body.getArguments(), kernel.getInputs());
  for (Operation &op : body.without_terminator())
    builder.clone(op, values);
  for (auto [result, value] : llvm::zip_equal(kernel.getOutputs(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(values.lookup(value));
  kernel.erase();
}

/// A module with the function, decomposed into primitive ops.
static FailureOr<OwningOpRef<ModuleOp>> primitive(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  module->push_back(function.clone());
  PassManager passes(function.getContext());
  passes.addPass(createDecomposePass());
  if (failed(passes.run(*module)))
    return failure();
  module->walk([](nn::KernelOp kernel) { inlineKernel(kernel); });
  return module;
}

/// One ULP of each result in its element type; the larger one at a boundary between exponents.
static Tensors unitsInTheLastPlace(const Tensors &results) {
  Tensors units;
  for (const Tensor &result : results) {
    Tensor &unit = units.emplace_back(result.type());
    const Type element = result.type().getElementType();
    for (size_t i = 0; i < unit.reals.size(); ++i) {
      const double number = std::abs(result.reals[i]);
      unit.reals[i] = unitInTheLastPlace(element, number + unitInTheLastPlace(element, number));
    }
  }
  return units;
}

static bool areFinite(const Tensors &tensors) {
  return llvm::all_of(tensors, [](const Tensor &tensor) {
    return llvm::all_of(tensor.reals, [](double number) { return std::isfinite(number); });
  });
}

static LogicalResult compute(func::FuncOp function, KernelReference &reference) {
  FailureOr<Tensors> drawn = drawArguments(function);
  if (failed(drawn))
    return failure();
  reference.arguments.clear();
  llvm::append_range(reference.arguments, llvm::map_range(*drawn, rounded));
  FailureOr<Tensors> results = reference::runBlock(function.getBody().front(), reference.arguments);
  if (failed(results))
    return failure();
  reference.results = std::move(*results);
  return success();
}

/// Draws arguments from [0.25, 1], so that logarithms and roots are finite.
static void makePositive(func::FuncOp function) {
  const Attribute range = OpBuilder(function).getF64ArrayAttr({0.25, 1});
  for (BlockArgument argument : function.getArguments())
    if (isa<FloatType>(cast<RankedTensorType>(argument.getType()).getElementType()))
      function.setArgAttr(argument.getArgNumber(), "check.range", range);
}

FailureOr<KernelReference> check::referenceOf(func::FuncOp function, const KernelBound &bound) {
  KernelReference reference;
  reference.bound = numberOf(function, "check.kernel_tolerance", bound.relative);
  OwningOpRef<ModuleOp> module;
  func::FuncOp run = function;
  if (bound.allowsRounding) {
    FailureOr<OwningOpRef<ModuleOp>> made = primitive(function);
    if (failed(made))
      return failure();
    module = std::move(*made);
    run = *module->getOps<func::FuncOp>().begin();
  }
  if (failed(compute(run, reference)))
    return failure();
  if (function->hasAttr("check.finite") && !areFinite(reference.results)) {
    makePositive(run);
    if (failed(compute(run, reference)))
      return failure();
  }
  reference.slack = unitsInTheLastPlace(reference.results);
  if (!bound.allowsRounding || !hasShortNumbers(run))
    return reference;
  FailureOr<Tensors> errors = sampledRoundingErrors(run, reference.arguments);
  if (failed(errors))
    return failure();
  for (auto [slack, error] : llvm::zip_equal(reference.slack, *errors))
    for (auto [to, more] : llvm::zip_equal(slack.reals, error.reals))
      to += more;
  return reference;
}

std::vector<double> check::numbersOf(const Tensor &tensor) {
  return tensor.isFloat() ? tensor.reals
                          : std::vector<double>(tensor.integers.begin(), tensor.integers.end());
}

std::vector<cases::ExpectedResult> check::expectedResults(const KernelReference &reference) {
  std::vector<cases::ExpectedResult> results;
  for (auto [numbers, slack] : llvm::zip_equal(reference.results, reference.slack))
    results.push_back({numbersOf(numbers), numbersOf(slack)});
  return results;
}
