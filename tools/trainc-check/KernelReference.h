// What a function's kernels must compute, and by how much they may miss it.
#pragma once

#include "Modes.h"

#include "lib/Reference/Tensor.h"
#include "tools/cases/cases.h"

namespace trainc::check {

struct KernelReference {
  reference::Tensors arguments; ///< rounded to their types
  reference::Tensors results, slack;
  double bound = 0;
};

/// Draws arguments and runs the reference. Slack of a number is one unit in the last place where its type is
/// bf16 or f16, and if bound.allowsRounding what roundings on the way to it may do. Then composite ops are
/// decomposed, as for kernels.
mlir::FailureOr<KernelReference> referenceOf(mlir::func::FuncOp function, const KernelBound &bound);

/// Results as cases have them.
std::vector<double> numbersOf(const reference::Tensor &tensor);
std::vector<cases::ExpectedResult> expectedResults(const KernelReference &reference);

} // namespace trainc::check
