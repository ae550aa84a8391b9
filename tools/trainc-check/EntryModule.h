// Embeds functions in an entry of a program, the form that passes and plans need.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace trainc::check {

/// An empty module with a program that has `words` after "batch 1", such as "target cuda".
mlir::OwningOpRef<mlir::ModuleOp> programModule(mlir::MLIRContext *context, llvm::StringRef words);

/// A module with one entry, `micro_step` or `eval`. The functions' arguments become parameters, and their
/// results optimizer states, with the names that tools/cases uses.
class EntryModule {
public:
  EntryModule(mlir::MLIRContext *context, llvm::StringRef words, EntryKind kind);

  /// Appends the body of a function.
  void add(mlir::func::FuncOp function);
  mlir::ModuleOp module() { return module_.get(); }
  mlir::Block &block() { return entry_.getBody().front(); }

private:
  std::string addState(mlir::func::FuncOp function, bool isResult, size_t index, mlir::Type type);

  mlir::OwningOpRef<mlir::ModuleOp> module_;
  train::EntryOp entry_;
};

} // namespace trainc::check
