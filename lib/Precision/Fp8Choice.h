// Choice of the ops of a step that take fp8.
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

/// Chooses the fp8 ops of one entry: products with parameters, and the products that give their gradients.
class Fp8Choice {
public:
  explicit Fp8Choice(train::EntryOp entry);

  llvm::ArrayRef<ScaledOp> ops() const { return ops_; }
  bool isForward(mlir::Value value) const { return forward_.contains(value.getDefiningOp()); }
  /// Whether the value is a parameter, or only moves elements of parameters.
  bool isOfParameters(mlir::Value value) const { return ofParameters_.contains(value); }

private:
  void findParameters(mlir::Block &block);
  void findLeading(mlir::Block &block);
  void addForward(Fp8OpInterface op);
  void addBackward(Fp8OpInterface op);

  llvm::DenseSet<mlir::Operation *> forward_;
  llvm::DenseSet<mlir::Value> ofParameters_;
  /// Values that lead to a later product of the forward. The last products before the loss stay in the low
  /// type.
  llvm::DenseSet<mlir::Value> leading_;
  /// Operands of chosen forward products, with the types of the products' results. The results' gradients
  /// have these types.
  llvm::DenseMap<mlir::Value, llvm::SmallDenseSet<mlir::Type, 2>> factors_;
  llvm::SmallVector<ScaledOp> ops_;
};

} // namespace trainc
