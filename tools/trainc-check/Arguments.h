// Values for the arguments of a checked function.
#pragma once

#include "lib/Reference/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace trainc::check {

/// One tensor per argument, the same in every run, as the attributes check.range, check.integers and
/// check.values say (see README.md). Bad or missing attributes are reported at the function.
mlir::FailureOr<reference::Tensors> drawArguments(mlir::func::FuncOp function);

/// Floats in [low, high), the same for the same `number`.
reference::Tensor drawReals(mlir::RankedTensorType type, double low, double high, unsigned number);
/// Integers from `low` to below `end`, likewise.
reference::Tensor drawIntegers(mlir::RankedTensorType type, int64_t low, int64_t end, unsigned number);

} // namespace trainc::check
