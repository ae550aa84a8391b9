// LLVM attributes for operands of GPU kernels that nothing writes while the kernel runs.
#pragma once

#include "lib/Codegen/KernelSummary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace trainc::codegen {

/// Promises that nothing writes the parameters that a kernel only reads: plans whose launches have
/// overlapping arguments, apart from KernelSummary::mayAlias, are rejected. Loads of such parameters may move
/// across stores, and use the non-coherent cache. Written parameters get no promise, because a thread may
/// read values that other threads of its block wrote.
void promiseConstant(mlir::func::FuncOp kernel, llvm::ArrayRef<KernelParam> params);

/// Removes the promise for parameter `index`, which a result may alias.
void mayChange(mlir::func::FuncOp kernel, unsigned index);

} // namespace trainc::codegen
