// Forward of an entry, for passes that recompute parts of it.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// The forward ops of an entry: those that the loss depends on, and two kinds that only the backward reads:
/// roundings of the pass `round-saved` (so that the exact numbers need not be kept) and magnitudes of
/// `scale-operands`.
class ForwardSide {
public:
  explicit ForwardSide(train::EntryOp entry);

  bool contains(mlir::Operation *op) const { return ops_.contains(op); }
  /// Whether `op` is a forward op that the loss does not depend on.
  bool isAside(mlir::Operation *op) const { return aside_.contains(op); }
  /// Whether the value need not be kept: it is in memory anyway, or computed from such values and constants
  /// alone, as masks are, so that kernels compute it where they read it.
  bool isAtHand(mlir::Value value) const { return atHand_.contains(value); }

private:
  void addAside(mlir::Block &block);
  void findAtHand(mlir::Block &block);

  llvm::DenseSet<mlir::Operation *> ops_, aside_;
  llvm::DenseSet<mlir::Value> atHand_;
};

/// Whether the op is a view or a widening conversion, which its readers can apply themselves.
bool isRecomputableView(mlir::Operation *op);

/// Returns the value under views and widening conversions.
mlir::Value stripViews(mlir::Value value);

} // namespace trainc
