// Reference results of a function's kernels, and the allowed errors.
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

/// Draws arguments and runs the reference. The slack of a number is one ULP if its type is bf16 or f16 plus,
/// if bound.allowsRounding, the possible effect of intermediate roundings. Then decomposes composite ops, as
/// for kernels.
mlir::FailureOr<KernelReference> referenceOf(mlir::func::FuncOp function, const KernelBound &bound);

/// Elements in the form of test cases.
std::vector<double> numbersOf(const reference::Tensor &tensor);
std::vector<cases::ExpectedResult> expectedResults(const KernelReference &reference);

} // namespace trainc::check
