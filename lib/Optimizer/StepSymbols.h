// The states and entries of the module whose step is being built.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Finds states and entries by name, and declares those that are missing. Symbols are made through it alone
/// while it lives.
class StepSymbols {
public:
  explicit StepSymbols(mlir::ModuleOp module);

  /// The state of this name, or null.
  train::StateOp state(llvm::StringRef name) const { return table.lookup<train::StateOp>(name); }
  /// The state `name`, which is declared behind all others if there is none.
  train::StateOp declareState(llvm::StringRef name, train::StateRole role, mlir::RankedTensorType type);
  /// The state that is exchanged with the host as `scalar`, which is declared if there is none.
  train::StateOp declareScalar(HostScalar scalar);
  /// The entry of that kind, which is made after `after` if there is none.
  train::EntryOp declareEntry(EntryKind kind, mlir::Operation *after);
  /// A copy of `entry` behind it, of a kind of which there is none.
  train::EntryOp cloneEntry(train::EntryOp entry, EntryKind kind);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable table;
  mlir::Operation *lastState = nullptr;
};

} // namespace trainc
