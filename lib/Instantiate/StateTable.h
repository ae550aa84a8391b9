// The module's states and entries, by name.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace trainc {

/// Declares states and entries; all share one namespace with the program.
class StateTable {
public:
  explicit StateTable(mlir::ModuleOp module);

  /// Declares a state before all entries. A name that is taken is an error at `loc`; null is returned then.
  train::StateOp declare(mlir::Location loc, llvm::StringRef name, train::StateRole role,
                         mlir::RankedTensorType type);
  /// What is exchanged with the host; declared at the first call.
  train::StateOp scalar(HostScalar scalar);
  /// The state of this name, or null.
  train::StateOp lookup(llvm::StringRef name) const;
  /// Erases the states and entries that came after `before`, an earlier copy of this table.
  void revertTo(const StateTable &before);
  /// A new entry at the module's end, with an empty body.
  train::EntryOp createEntry(EntryKind kind);

private:
  mlir::ModuleOp module;
  mlir::Operation *lastState = nullptr;
  llvm::StringMap<mlir::Operation *> byName;
};

mlir::Value getState(mlir::OpBuilder &builder, mlir::Location loc, train::StateOp state);
void setState(mlir::OpBuilder &builder, mlir::Location loc, train::StateOp state, mlir::Value value);

} // namespace trainc
