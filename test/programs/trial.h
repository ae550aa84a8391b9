// Ops of a model tried on numbers, before they become part of it.
#pragma once

#include "lib/Reference/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>

namespace trainc::programs {

/// How far rounding moves a number, up or down. Zero stays.
struct Change {
  double relative;     ///< to the number
  double absolute = 0; ///< in addition: of types whose smallest numbers have few digits

  bool isNone() const { return relative == 0; }
  double apply(double number, std::mt19937 &random) const;
};

/// A model's values for one batch: their types, and their numbers in the reference interpreter, exact and
/// with every op's results slightly perturbed.
class Trial {
public:
  /// No result has more than `maxElements`.
  Trial(mlir::MLIRContext &context, unsigned seed, int64_t maxElements);

  /// A value of the model that no op computes. Integers lie in [0, 3).
  void defineLeaf(mlir::Value value, mlir::RankedTensorType type);
  /// Whether an op of the model is valid on its operands, and gives finite numbers of moderate size that are
  /// insensitive to rounding. If so, its results are defined.
  bool accept(mlir::Operation *op);

  /// Gives `value` the type and numbers of `same`.
  void defineAs(mlir::Value value, mlir::Value same) { concrete_.map(value, concrete_.lookup(same)); }

  mlir::RankedTensorType typeOf(mlir::Value value) const;

private:
  bool runSince(mlir::Operation *before);
  bool comparable(mlir::Value value) const;
  mlir::LogicalResult inferTypes(mlir::Operation *op) const;

  std::mt19937 random_;
  int64_t maxElements_;
  mlir::OwningOpRef<mlir::ModuleOp> module_; ///< its body: the ops on static tensors, and leaves as arguments
  mlir::Block *block_;
  mlir::IRMapping concrete_;
  reference::Frame exact_, changed_;
};

/// Runs an op as reference::runOp does, but with numbers changed as rounding might: all real results, and, if
/// one element is computed from several, the operands before that and numbers on the way
/// (reference::Frame::rounded). Ops that only move numbers round nothing.
mlir::FailureOr<reference::Tensors> runChanged(mlir::Operation &op, reference::Frame &frame,
                                               const Change &change, std::mt19937 &random);

} // namespace trainc::programs
