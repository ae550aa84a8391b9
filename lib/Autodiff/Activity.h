// Which values of an entry depend on trained parameters.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace trainc {

/// Values that depend on a trained parameter, in a differentiable way as far as types tell: integers never
/// do.
class Activity {
public:
  /// Looks at `entry`; states are found in the module around it.
  explicit Activity(train::EntryOp entry);

  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// Reads of trained parameters, in program order, by the parameter's name.
  using Reads = llvm::MapVector<mlir::StringAttr, llvm::SmallVector<train::GetOp>>;
  const Reads &parameterReads() const { return reads; }
  /// The trained parameters that `value` depends on, in program order.
  llvm::SmallVector<mlir::StringAttr> parametersOf(mlir::Value value) const;

private:
  void visit(mlir::Operation &op, mlir::SymbolTableCollection &symbols);

  llvm::DenseSet<mlir::Value> active;
  Reads reads;
};

/// True if values of this type have gradients.
bool hasGradient(mlir::Type type);

/// True for a parameter that has a gradient.
bool isTrained(train::StateOp state);

} // namespace trainc
