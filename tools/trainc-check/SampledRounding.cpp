// Perturbs all rounded numbers of a function at once, and measures the effect on its results.
#include "Comparison.h"
#include "Rounding.h"

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/NN.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Frame;
using reference::Tensor;
using reference::Tensors;

static constexpr unsigned kRuns = 4;
static constexpr double kSafety = 3;

/// Whether the op only moves numbers, or converts them.
static bool movesNumbers(Operation &op) {
  return isa<nn::ConvertOp, nn::BroadcastOp, nn::ReshapeOp, StridedCopyOpInterface>(op);
}

/// Values that have the same bits in every kernel: arguments, constants, and values that are only moved or
/// converted from them.
static llvm::DenseSet<Value> exactValues(Block &block) {
  llvm::DenseSet<Value> exact(block.args_begin(), block.args_end());
  for (Operation &op : block.without_terminator())
    if (op.hasTrait<OpTrait::ConstantLike>() ||
        (movesNumbers(op) &&
         llvm::all_of(op.getOperands(), [&](Value value) { return exact.contains(value); })))
      exact.insert(op.result_begin(), op.result_end());
  return exact;
}

/// A type, bf16 or f16, that occurs in the function.
static Type shortElement(Block &block) {
  for (Operation &op : block)
    for (Value value : op.getOperands())
      if (isShort(value))
        return getElementTypeOrSelf(value);
  return {};
}

static bool isAttention(Operation &op) {
  auto executable = dyn_cast<ExecutableOpInterface>(op);
  return executable && (executable.getKernelClass() == KernelClass::Attention ||
                        executable.getKernelClass() == KernelClass::AttentionGrad);
}

namespace {

class ChangedRuns {
public:
  ChangedRuns(func::FuncOp function, const Tensors &arguments)
      : block(function.getBody().front()), arguments(arguments), narrow(shortElement(block)),
        exact(exactValues(block)) {}

  /// Returns the results; run 0 is unperturbed.
  FailureOr<Tensors> run(unsigned number) {
    generator.seed(number);
    Frame frame(nullptr), given(nullptr);
    for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
      frame.define(argument, tensor);
      given.define(argument, tensor);
    }
    for (Operation &op : block.without_terminator()) {
      const bool narrows = number != 0 && isAttention(op);
      if (narrows)
        frame.setRounding([&](double probability) {
          return probability + direction() * unitInTheLastPlace(narrow, probability);
        });
      if (failed(reference::runAndDefine(op, frame)))
        return failure();
      frame.setRounding(nullptr);
      for (Value result : op.getResults()) {
        Tensor tensor = std::as_const(frame)[result];
        if (narrows && isShort(result))
          changeByLargest(tensor);
        given.define(result, tensor);
        if (number != 0 && !narrows && isShort(result) && !exact.contains(result))
          changeByUnits(tensor);
        frame.define(result, std::move(tensor));
      }
    }
    Tensors results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(std::as_const(given)[value]);
    return results;
  }

private:
  double direction() { return generator() % 2 == 0 ? 1 : -1; }

  void changeByUnits(Tensor &tensor) {
    for (double &number : tensor.reals)
      number += direction() * unitInTheLastPlace(tensor.type().getElementType(), number);
    tensor.roundShortNumbers();
  }

  /// Perturbs sums of rounded weights: each summand is off by half an ULP of its own, and may be larger than
  /// the sum.
  void changeByLargest(Tensor &tensor) {
    double largest = 0;
    for (double number : tensor.reals)
      if (std::isfinite(number))
        largest = std::max(largest, std::abs(number));
    const double unit = unitInTheLastPlace(narrow, largest);
    for (double &number : tensor.reals)
      number += direction() * unit;
    tensor.roundShortNumbers();
  }

  Block &block;
  const Tensors &arguments;
  Type narrow;
  llvm::DenseSet<Value> exact;
  std::mt19937_64 generator;
};

} // namespace

/// Perturbations may have cancelled in all runs, so no element gets less than the mean.
static void makeSafe(Tensor &error) {
  double sum = 0;
  for (double number : error.reals)
    sum += number;
  const double mean = sum / double(std::max<size_t>(error.reals.size(), 1));
  for (double &number : error.reals)
    number = kSafety * std::max(number, mean);
}

FailureOr<Tensors> check::sampledRoundingErrors(func::FuncOp function, const Tensors &arguments) {
  ChangedRuns runs(function, arguments);
  FailureOr<Tensors> original = runs.run(0);
  if (failed(original))
    return failure();
  Tensors errors;
  for (const Tensor &result : *original)
    errors.emplace_back(result.type());
  for (unsigned number = 1; number <= kRuns; ++number) {
    FailureOr<Tensors> changed = runs.run(number);
    if (failed(changed))
      return failure();
    for (auto [error, from, to] : llvm::zip_equal(errors, *original, *changed))
      for (size_t i = 0; i < error.reals.size(); ++i)
        if (const double moved = std::abs(to.reals[i] - from.reals[i]); std::isfinite(moved))
          error.reals[i] = std::max(error.reals[i], moved);
  }
  for (Tensor &error : errors)
    makeSafe(error);
  return errors;
}
