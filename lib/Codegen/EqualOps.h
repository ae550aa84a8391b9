// Equality of ops that are computed by the same kernels.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMapInfo.h"

namespace trainc::codegen {

/// DenseMap info: ops are equal if they differ only in locations and in the definitions of their operands.
struct EqualOps : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *op);
  static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
};

} // namespace trainc::codegen
