// Cost of an elementwise op's body.
#pragma once

#include "llvm/ADT/DenseMap.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace trainc::codegen {

/// Approximate number of instructions of an elementwise op's body, and whether it uses 64-bit positions.
struct BodyCost {
  int64_t weight = 0;
  bool positions = false;
};

/// Costs of a kernel's ops, cached because each body is built for its cost.
using BodyCosts = llvm::DenseMap<mlir::Operation *, BodyCost>;

BodyCost bodyCost(mlir::Operation *op);

} // namespace trainc::codegen
