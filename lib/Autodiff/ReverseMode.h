// Reverse-mode differentiation of one entry.
#pragma once

#include "lib/Autodiff/Activity.h"

namespace trainc {

/// Builds the backward of an entry from its train.minimize. Griewank and Walther, "Evaluating Derivatives",
/// 2nd ed., ch. 3.2.
class ReverseMode {
public:
  /// `minimize` is in the block of `entry`, after all that the loss depends on.
  ReverseMode(train::EntryOp entry, train::MinimizeOp minimize);

  /// Replaces the minimize op by the backward ops and a train.gradient per parameter. Emits an error at the
  /// op and fails where the way from a parameter to the loss has an op without gradient.
  mlir::LogicalResult run();

private:
  /// Adds a contribution to the cotangent of `value`.
  void accumulate(mlir::Value value, mlir::Value contribution);
  mlir::LogicalResult differentiate(mlir::Operation *op);
  /// Says that an operand which depends on a parameter is taken for a constant.
  mlir::LogicalResult refuseConstant(mlir::Operation *op, unsigned operand);
  void emitGradients();
  /// Warns of trained parameters that the entry does not even read.
  void warnOfUnread();

  train::MinimizeOp minimize;
  Activity activity;
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
};

} // namespace trainc
