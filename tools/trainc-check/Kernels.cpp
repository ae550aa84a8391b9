// --kernels: machine code against the reference, and the instruction-set levels against each other.
#include "Arguments.h"
#include "Buffer.h"
#include "Comparison.h"
#include "CompiledFunction.h"
#include "Modes.h"

#include "lib/Codegen/Cpu/Levels.h"
#include "lib/Reference/Interpreter.h"

using namespace mlir;
using namespace trainc;
using reference::Tensors;

/// Whether two results agree in every number; NaNs are equal.
static bool areSame(const Tensors &a, const Tensors &b) { return check::tensorError(a, b, 1) == 0; }

/// Whether a level has products of bf16 numbers with bits of their own.
static bool hasOwnProducts(StringRef name) {
  return llvm::any_of(codegen::allLevels(Fp32Products::Fma),
                      [&](const codegen::Level &level) { return level.name == name && level.base; });
}

check::Check check::checkKernels(func::FuncOp function, double bound) {
  if (function->hasAttr("check.no_kernels"))
    return std::optional<Outcome>();
  FailureOr<CompiledFunction> compiled = CompiledFunction::compile(function);
  if (failed(compiled))
    return failure();
  if (compiled->launches() == 0)
    return std::optional<Outcome>();
  if (compiled->levels().empty())
    return function.emitError("this CPU runs none of the levels that kernels are compiled for");
  FailureOr<Tensors> drawn = drawArguments(function);
  if (failed(drawn))
    return failure();
  Tensors arguments;
  llvm::append_range(arguments, llvm::map_range(*drawn, rounded));
  FailureOr<Tensors> expected = reference::runBlock(function.getBody().front(), arguments);
  Outcome outcome{0, numberOf(function, "check.kernel_tolerance", bound)};
  std::optional<Tensors> first;
  for (const std::string &level : compiled->levels()) {
    FailureOr<Tensors> actual = compiled->run(arguments, level);
    if (failed(actual) || failed(expected))
      return failure();
    for (auto [found, wanted] : llvm::zip(*actual, *expected))
      outcome.error = std::max(outcome.error, elementError(found, wanted, 1));
    if (hasOwnProducts(level))
      continue;
    if (first && !areSame(*actual, *first))
      return function.emitError("kernels for ")
             << level << " give other bits than those for " << compiled->levels()[0];
    first = std::move(*actual);
  }
  return std::optional(outcome);
}
