// Arguments of checked functions.
#pragma once

#include "lib/Reference/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace trainc::check {

/// Draws one tensor per argument, equal in every run, by the attributes check.range, check.integers and
/// check.values (see README.md). Bad or missing attributes are reported at the function.
mlir::FailureOr<reference::Tensors> drawArguments(mlir::func::FuncOp function);

/// Draws floats in [low, high); deterministic in `number`.
reference::Tensor drawReals(mlir::RankedTensorType type, double low, double high, unsigned number);
/// Draws integers in [low, end); deterministic in `number`.
reference::Tensor drawIntegers(mlir::RankedTensorType type, int64_t low, int64_t end, unsigned number);

} // namespace trainc::check
