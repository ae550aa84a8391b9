// Ops that are computed by the same kernels.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMapInfo.h"

namespace trainc::codegen {

/// Keys of a DenseMap: ops are equal that differ in their locations and in what makes their operands.
struct EqualOps : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *op);
  static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
};

} // namespace trainc::codegen
