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
  /// Whether the op computes a result in the place of this operand.
  bool updatesInPlace() const;

  /// Redirects the use to the value that `mapped` has for the original value, through views of it. Views
  /// without a mapping are created by the builder.
  void readInstead(mlir::IRMapping &mapped, mlir::OpBuilder &builder) const;
};

/// Returns the operand whose bytes the result overwrites; null if there is none.
mlir::Value inPlaceOperand(mlir::OpResult result);

/// Returns all readers in program order.
llvm::SmallVector<Reader> readersOf(mlir::Value value);

} // namespace trainc
