// Readers of a value, directly or through views.
#pragma once

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/IR/IRMapping.h"

namespace trainc {

/// A use of a value, or of a view of it, and the views in between.
struct Reader {
  mlir::OpOperand *use;
  llvm::SmallVector<mlir::Operation *, 2> views;

  mlir::Operation *op() const { return use->getOwner(); }
  /// Whether the op computes a result in the memory of this operand.
  bool updatesInPlace() const;

  /// Replaces the original value in this use by the value to which `mapped` maps it. The views in between are
  /// replaced by those that `mapped` has; `builder` creates missing ones.
  void readInstead(mlir::IRMapping &mapped, mlir::OpBuilder &builder) const;
};

/// Returns the operand whose bytes the result overwrites; null if there is none.
mlir::Value inPlaceOperand(mlir::OpResult result);

/// Returns all readers in program order.
llvm::SmallVector<Reader> readersOf(mlir::Value value);

} // namespace trainc
