// What LLVM is told of the operands of a GPU's kernel that nothing writes while it runs.
#pragma once

#include "lib/Codegen/KernelSummary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace trainc::codegen {

/// Says of all parameters that a kernel only reads that nothing writes there: plans are refused whose
/// launches have arguments in common, apart from those of KernelSummary::mayAlias. Loads of them may move
/// over stores, and through the cache that is not kept coherent. Parameters that are written get no such
/// promise: a block's threads may read there what others of them wrote.
void promiseConstant(mlir::func::FuncOp kernel, llvm::ArrayRef<KernelParam> params);

/// Takes the promise back for the parameter `index`, where a result may lie.
void mayChange(mlir::func::FuncOp kernel, unsigned index);

} // namespace trainc::codegen
