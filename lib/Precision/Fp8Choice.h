// Which ops of a step take fp8.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallSet.h"

namespace trainc {

/// An op whose operands become fp8.
struct ScaledOp {
  Fp8OpInterface op;
  bool isForward;
};

/// Chooses the ops of one entry: products with parameters, and those that give the gradients of these.
class Fp8Choice {
public:
  explicit Fp8Choice(train::EntryOp entry);

  llvm::ArrayRef<ScaledOp> ops() const { return ops_; }
  bool isForward(mlir::Value value) const { return forward_.contains(value.getDefiningOp()); }
  /// Whether it is a parameter, or moved of parameters alone.
  bool isOfParameters(mlir::Value value) const { return ofParameters_.contains(value); }

private:
  void findParameters(mlir::Block &block);
  void findLeading(mlir::Block &block);
  void addForward(Fp8OpInterface op);
  void addBackward(Fp8OpInterface op);

  llvm::DenseSet<mlir::Operation *> forward_;
  llvm::DenseSet<mlir::Value> ofParameters_;
  /// What the forward goes on to multiply. The last products before the loss stay as they are.
  llvm::DenseSet<mlir::Value> leading_;
  /// Of what chosen products of the forward read the types of their results, which gradients have as well.
  llvm::DenseMap<mlir::Value, llvm::SmallDenseSet<mlir::Type, 2>> factors_;
  llvm::SmallVector<ScaledOp> ops_;
};

} // namespace trainc
