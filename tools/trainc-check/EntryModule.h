// Functions as parts of a program's entry, which passes and plans know.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace trainc::check {

/// An empty module with a program that has these words behind "batch 1", such as "target cuda".
mlir::OwningOpRef<mlir::ModuleOp> programModule(mlir::MLIRContext *context, llvm::StringRef words);

/// A module with one entry, `micro_step` or `eval`. Arguments of the functions in it are parameters, and
/// results states of the optimizer, of the names that tools/cases knows.
class EntryModule {
public:
  EntryModule(mlir::MLIRContext *context, llvm::StringRef words, EntryKind kind);

  /// Appends what a function does.
  void add(mlir::func::FuncOp function);
  mlir::ModuleOp module() { return module_.get(); }
  mlir::Block &block() { return entry_.getBody().front(); }

private:
  std::string addState(mlir::func::FuncOp function, bool isResult, size_t index, mlir::Type type);

  mlir::OwningOpRef<mlir::ModuleOp> module_;
  train::EntryOp entry_;
};

} // namespace trainc::check
