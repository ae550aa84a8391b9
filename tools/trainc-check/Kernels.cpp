// --kernels: machine code against the reference, and the instruction-set levels against each other.
#include "Comparison.h"
#include "CompiledFunction.h"
#include "KernelReference.h"
#include "tools/cases/cases.h"

#include "lib/Codegen/Cpu/Levels.h"

using namespace mlir;
using namespace trainc;
using reference::Tensor;
using reference::Tensors;

/// Whether two results agree in every number; NaNs are equal.
static bool areSame(const Tensors &a, const Tensors &b) { return check::tensorError(a, b, 1) == 0; }

/// Whether products of bf16 numbers have other bits on this level.
static bool hasOwnProducts(StringRef name) {
  return llvm::any_of(codegen::allLevels(Fp32Products::Fma),
                      [&](const codegen::Level &level) { return level.name == name && level.base; });
}

static double errorOf(const Tensors &actual, const check::KernelReference &reference) {
  const std::vector<cases::ExpectedResult> expected = check::expectedResults(reference);
  double error = 0;
  for (auto [found, wanted] : llvm::zip_equal(actual, expected))
    error = std::max(error, cases::errorOf(check::numbersOf(found), wanted));
  return error;
}

check::Check check::checkKernels(func::FuncOp function, const KernelBound &bound) {
  if (function->hasAttr("check.no_kernels"))
    return std::optional<Outcome>();
  FailureOr<CompiledFunction> compiled = CompiledFunction::compile(function);
  if (failed(compiled))
    return failure();
  if (compiled->launches() == 0)
    return std::optional<Outcome>();
  if (compiled->levels().empty())
    return function.emitError("this CPU runs none of the levels that kernels are compiled for");
  FailureOr<KernelReference> reference = referenceOf(function, bound);
  if (failed(reference))
    return failure();
  Outcome outcome{0, reference->bound};
  std::optional<Tensors> first;
  for (const std::string &level : compiled->levels()) {
    FailureOr<Tensors> actual = compiled->run(reference->arguments, level);
    if (failed(actual))
      return failure();
    outcome.error = std::max(outcome.error, errorOf(*actual, *reference));
    if (hasOwnProducts(level))
      continue;
    if (first && !areSame(*actual, *first))
      return function.emitError("kernels for ")
             << level << " give other bits than those for " << compiled->levels()[0];
    first = std::move(*actual);
  }
  return std::optional(outcome);
}
