// Uses of a value in an order that depends on the program alone.
#pragma once

#include "mlir/IR/Value.h"

namespace trainc {

/// Returns the uses of a value from the last to the first in its block. MLIR's own list has them in the order
/// in which they were made, which a copy of the program does not keep. So a pass whose result depends on the
/// order asks for this one.
llvm::SmallVector<mlir::OpOperand *> usesFromLast(mlir::Value value);

/// Whether `a` comes before `b`, or contains it. The ops differ, are nested in one block, and regions have
/// one block each.
bool comesBefore(mlir::Operation *a, mlir::Operation *b);

} // namespace trainc
