// States and entries of a module by name.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace trainc {

/// Table that declares states and entries. Their names and the program's name share one namespace.
class StateTable {
public:
  explicit StateTable(mlir::ModuleOp module);

  /// Declares a state before all entries. Reports an error at `loc` and returns null if the name is taken.
  train::StateOp declare(mlir::Location loc, llvm::StringRef name, train::StateRole role,
                         mlir::RankedTensorType type);
  /// Returns the state of a host scalar; declares it at the first call, with a number for each of `count`
  /// texts if that is given.
  train::StateOp scalar(HostScalar scalar, std::optional<int64_t> count = std::nullopt);
  /// Returns the state of this name, or null.
  train::StateOp lookup(llvm::StringRef name) const;
  /// Erases states and entries that are not in `before`, an earlier copy of this table.
  void revertTo(const StateTable &before);
  /// Creates an entry with an empty body at the module's end.
  train::EntryOp createEntry(EntryKind kind);

private:
  mlir::ModuleOp module;
  mlir::Operation *lastState = nullptr;
  llvm::StringMap<mlir::Operation *> byName;
};

mlir::Value getState(mlir::OpBuilder &builder, mlir::Location loc, train::StateOp state);
void setState(mlir::OpBuilder &builder, mlir::Location loc, train::StateOp state, mlir::Value value);

} // namespace trainc
