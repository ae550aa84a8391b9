// --decompose: composite ops against their decompositions.
#include "Arguments.h"
#include "Comparison.h"
#include "Modes.h"
#include "Rounding.h"

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Reference/Interpreter.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace trainc;
using reference::Tensors;

/// Replaces composite ops until none is left; returns false if there was none.
static bool decomposeAll(func::FuncOp function) {
  auto next = [&]() -> DecomposableOpInterface {
    for (Operation &op : function.getBody().front())
      if (auto composite = dyn_cast<DecomposableOpInterface>(op))
        return composite;
    return nullptr;
  };
  bool found = false;
  while (DecomposableOpInterface composite = next()) {
    OpBuilder builder(composite);
    composite->replaceAllUsesWith(composite.decompose(builder));
    composite->erase();
    found = true;
  }
  return found;
}

check::Check check::checkDecompositions(func::FuncOp function) {
  OwningOpRef<func::FuncOp> decomposed = function.clone();
  if (function->hasAttr("check.no_decompose") || !decomposeAll(*decomposed))
    return std::optional<Outcome>();
  if (failed(verify(*decomposed)))
    return failure();
  FailureOr<Tensors> arguments = drawArguments(function);
  if (failed(arguments))
    return failure();
  FailureOr<Tensors> expected = reference::runBlock(function.getBody().front(), *arguments);
  FailureOr<Tensors> actual = reference::runBlock(decomposed->getBody().front(), *arguments);
  if (failed(expected) || failed(actual))
    return failure();
  if (!hasShortNumbers(*decomposed))
    return std::optional(Outcome{tensorError(*actual, *expected, 1e-6), 1e-12});
  FailureOr<Tensors> errors = roundingErrors(*decomposed, *arguments);
  if (failed(errors))
    return failure();
  return std::optional(Outcome{ratioToAllowedError(*actual, *expected, *errors), 1});
}
