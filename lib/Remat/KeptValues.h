// Which values the backward of an entry finds in memory, and which it computes again.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace trainc {

/// How a value is computed again.
struct Recipe {
  mlir::Value value;
  llvm::SmallVector<mlir::Operation *> ops; ///< each behind what it reads; the last makes the value
  llvm::SetVector<mlir::Value> kept;        ///< what they read of the forward's values
};

/// The choice for one entry; see the pass recompute.
class KeptValues {
public:
  explicit KeptValues(train::EntryOp entry);

  /// In the order of the forward.
  llvm::ArrayRef<Recipe> recipes() const { return recipes_; }

  /// Whether the loss is computed from what `op` makes.
  bool isForward(mlir::Operation *op) const { return forward_.contains(op); }

  /// Whether the result is operand 0 as it lies in memory.
  static bool isView(mlir::Operation *op);

private:
  void findForward(mlir::Block &block);
  void findAtHand(mlir::Block &block);
  void findReads(mlir::Block &block);
  std::optional<Recipe> findRecipe(mlir::Value value) const;

  llvm::DenseSet<mlir::Operation *> forward_;
  /// In memory in any case, or made from such values and numbers alone, as masks are: kernels make these
  /// where they read them.
  llvm::DenseSet<mlir::Value> atHand_;
  llvm::DenseSet<mlir::Value> kept_; ///< others that the backward reads and that are not computed again
  llvm::SmallVector<Recipe> recipes_;
};

} // namespace trainc
