// Who reads a value, directly or through views of it.
#pragma once

#include "dialects/Interfaces/Interfaces.h"

#include "mlir/IR/IRMapping.h"

namespace trainc {

/// A use of a value, or of a view of it, and the views on the way from there.
struct Reader {
  mlir::OpOperand *use;
  llvm::SmallVector<mlir::Operation *, 2> views;

  mlir::Operation *op() const { return use->getOwner(); }
  /// Whether the op makes a result in the place of what it reads.
  bool updatesInPlace() const;

  /// Has the use read what `mapped` has in the value's place, through views of that. They are made by the
  /// builder where `mapped` has none yet.
  void readInstead(mlir::IRMapping &mapped, mlir::OpBuilder &builder) const;
};

/// The operand in whose bytes the result is made; null if that is none.
mlir::Value inPlaceOperand(mlir::OpResult result);

/// In the order of the block.
llvm::SmallVector<Reader> readersOf(mlir::Value value);

} // namespace trainc
