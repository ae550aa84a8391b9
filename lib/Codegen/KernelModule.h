// A module of kernels, whose functions are found by name without a look at all of them.
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

  /// The function of that name, or null.
  mlir::func::FuncOp lookup(llvm::StringRef name) const { return functions.lookup(name); }
  /// A function of the module that has the name it keeps.
  void add(mlir::func::FuncOp function) { functions[function.getSymName()] = function; }

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

} // namespace trainc::codegen
