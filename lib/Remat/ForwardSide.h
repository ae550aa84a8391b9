// What an entry computes before its backward, as passes see it that compute some of it again.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// The forward of an entry. The loss is computed from it. What stands beside and serves the backward alone
/// belongs to it as well: the roundings of the pass `round-saved`, so that the exact numbers need not be
/// kept, and the magnitudes of `scale-operands`.
class ForwardSide {
public:
  explicit ForwardSide(train::EntryOp entry);

  bool contains(mlir::Operation *op) const { return ops_.contains(op); }
  /// Of those ops, whether the loss is not computed from `op`.
  bool isAside(mlir::Operation *op) const { return aside_.contains(op); }
  /// Whether the value is in memory in any case, or made from such values and numbers alone, as masks are:
  /// kernels make these where they read them.
  bool isAtHand(mlir::Value value) const { return atHand_.contains(value); }

private:
  void addAside(mlir::Block &block);
  void findAtHand(mlir::Block &block);

  llvm::DenseSet<mlir::Operation *> ops_, aside_;
  llvm::DenseSet<mlir::Value> atHand_;
};

/// Whether the result is operand 0 as it lies in memory, or widened by who reads it, and may be made anew.
bool isRecomputableView(mlir::Operation *op);

/// The value that views and wider numbers are made of.
mlir::Value stripViews(mlir::Value value);

} // namespace trainc
