// Forward of an entry, for passes that recompute parts of it.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// Forward ops of an entry. They include two kinds of ops that the loss does not depend on: roundings of the
/// pass `round-saved`, which are kept for the backward instead of exact numbers, and ops that compute
/// magnitudes for the pass `scale-operands`.
class ForwardSide {
public:
  explicit ForwardSide(train::EntryOp entry);

  bool contains(mlir::Operation *op) const { return ops_.contains(op); }
  /// Whether `op` is a forward op that the loss does not depend on.
  bool isOutsideLoss(mlir::Operation *op) const { return outsideLoss_.contains(op); }
  /// Whether the value need not be kept for the backward. Such a value is a state or an input of the entry,
  /// or kernels can recompute it from states, inputs and constants where they read it. An example is a mask.
  bool needsNoSaving(mlir::Value value) const { return unsaved_.contains(value); }

private:
  void addOutsideLoss(mlir::Block &block);
  void findUnsaved(mlir::Block &block);

  llvm::DenseSet<mlir::Operation *> ops_, outsideLoss_;
  llvm::DenseSet<mlir::Value> unsaved_;
};

/// Whether the op is a view or a widening conversion, which readers of its result can recompute. Broadcasts
/// do not count, because their operands have fewer elements to keep.
bool isRecomputableView(mlir::Operation *op);

/// Follows views and widening conversions back from `value`; returns the value on which the first of them
/// operates.
mlir::Value stripViews(mlir::Value value);

} // namespace trainc
