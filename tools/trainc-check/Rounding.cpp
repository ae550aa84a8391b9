// Perturbs each rounded number of a function, and measures the effect on its results.
#include "Rounding.h"

#include "Comparison.h"

#include "lib/Reference/Interpreter.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::check;
using reference::Frame;
using reference::Tensor;
using reference::Tensors;

bool check::isShort(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && reference::isShort(type.getElementType());
}

bool check::hasShortNumbers(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        const bool found =
            llvm::any_of(op->getOperands(), isShort) || llvm::any_of(op->getResults(), isShort);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The function with f32 instead of bf16 and f16: the interpreter does not round f32.
static OwningOpRef<func::FuncOp> widened(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> std::optional<Type> {
    return reference::isShort(type) ? Type(Float32Type::get(type.getContext())) : Type(type);
  });
  for (BlockArgument argument : copy->getArguments())
    argument.setType(replacer.replace(argument.getType()));
  for (Operation &op : copy->getBody().front())
    replacer.recursivelyReplaceElementsIn(&op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  return copy;
}

namespace {

/// Runs a function without rounding.
class ExactRuns {
public:
  ExactRuns(func::FuncOp exact, const Tensors &arguments) : block(exact.getBody().front()), frame(nullptr) {
    for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
      Tensor wide(argument);
      wide.reals = tensor.reals;
      wide.integers = tensor.integers;
      frame.define(argument, std::move(wide));
    }
  }

  LogicalResult run() {
    for (Operation &op : block.without_terminator())
      if (failed(reference::runAndDefine(op, frame)))
        return failure();
    exact = resultsOf(frame);
    for (const Tensor &result : exact)
      errors.emplace_back(result.type());
    return success();
  }

  /// Adds the effect of half an ULP of `element` in each element of `value`.
  LogicalResult addChanges(Value value, Type element) {
    const Tensor original = std::as_const(frame)[value];
    for (int64_t i = 0; i < original.elements(); ++i) {
      Frame changed = frame;
      Tensor moved = original;
      moved.reals[i] += unitInTheLastPlace(element, moved.reals[i]) / 2;
      changed.define(value, std::move(moved));
      for (Operation *op = value.getDefiningOp()->getNextNode(); op != block.getTerminator();
           op = op->getNextNode())
        if (failed(reference::runAndDefine(*op, changed)))
          return failure();
      addDifferences(resultsOf(changed));
    }
    return success();
  }

  Tensors takeErrors() { return std::move(errors); }

private:
  Tensors resultsOf(const Frame &values) {
    Tensors results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(values[value]);
    return results;
  }

  void addDifferences(const Tensors &results) {
    for (auto [result, original, error] : llvm::zip_equal(results, exact, errors))
      for (auto [to, from, sum] : llvm::zip_equal(result.reals, original.reals, error.reals))
        sum += std::abs(to - from);
  }

  Block &block;
  Frame frame;
  Tensors exact, errors;
};

} // namespace

FailureOr<Tensors> check::roundingErrors(func::FuncOp function, const Tensors &arguments) {
  OwningOpRef<func::FuncOp> exact = widened(function);
  ExactRuns runs(*exact, arguments);
  if (failed(runs.run()))
    return failure();
  for (auto [op, wide] : llvm::zip_equal(function.getBody().front(), exact->getBody().front()))
    for (auto [result, value] : llvm::zip_equal(op.getResults(), wide.getResults()))
      if (isShort(result) && failed(runs.addChanges(value, getElementTypeOrSelf(result))))
        return failure();
  return runs.takeErrors();
}
