// A module of kernels with an index of its functions by name.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace trainc::codegen {

class KernelModule {
public:
  explicit KernelModule(mlir::ModuleOp module) : module(module) {
    for (auto function : module.getOps<mlir::func::FuncOp>())
      functions[function.getSymName()] = function;
  }

  operator mlir::ModuleOp() const { return module; }
  mlir::MLIRContext *getContext() { return module.getContext(); }
  mlir::Block *getBody() { return module.getBody(); }

  /// Returns the function of that name, or null.
  mlir::func::FuncOp lookup(llvm::StringRef name) const { return functions.lookup(name); }
  /// Adds a function of the module to the index under its final name.
  void add(mlir::func::FuncOp function) { functions[function.getSymName()] = function; }

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

} // namespace trainc::codegen
