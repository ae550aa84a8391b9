// --reference: the interpreter against values written in the file.
#include "Arguments.h"
#include "Comparison.h"
#include "Modes.h"

#include "lib/Reference/Interpreter.h"

using namespace mlir;
using namespace trainc;
using reference::Tensor;
using reference::Tensors;

double check::numberOf(func::FuncOp function, StringRef name, double otherwise) {
  auto number = function->getAttrOfType<FloatAttr>(name);
  return number ? number.getValueAsDouble() : otherwise;
}

check::Check check::checkExpected(func::FuncOp function) {
  auto expectation = [&](unsigned result) { return function.getResultAttr(result, "check.expect"); };
  if (llvm::none_of(llvm::seq(function.getNumResults()), expectation))
    return std::optional<Outcome>();
  FailureOr<Tensors> arguments = drawArguments(function);
  if (failed(arguments))
    return failure();
  FailureOr<Tensors> results = reference::runBlock(function.getBody().front(), *arguments);
  if (failed(results))
    return failure();
  Outcome outcome{0, numberOf(function, "check.tolerance", 1e-12)};
  for (auto [index, result] : llvm::enumerate(*results)) {
    Attribute expected = expectation(index);
    if (!expected)
      continue;
    auto literal = dyn_cast<DenseElementsAttr>(expected);
    if (!literal || literal.getType().getShape() != result.shape())
      return function.emitError("check.expect of result ")
             << index << " must be a dense literal of shape " << result.shape();
    outcome.error = std::max(outcome.error, elementError(result, Tensor(result.type(), literal), 1e-2));
  }
  return std::optional(outcome);
}
