// The frame of every kernel: arguments, clamping, the loop over tiles, and its name.
#pragma once

#include "lib/Codegen/Codegen.h"
#include "lib/Codegen/Emitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace trainc::codegen {

/// A kernel under construction. Parameters are declared in the order of the launch's arguments, then tiles()
/// builds the body, and finish() names it by its content.
class KernelFunction {
public:
  KernelFunction(mlir::ModuleOp kernels, llvm::StringRef kind);

  /// Declares the next argument and returns its pointer.
  mlir::Value param(const KernelParam &param);

  /// The number of a stream of random numbers. It is an argument of the code, which all streams share.
  mlir::Value stream(int64_t number);

  mlir::ModuleOp module() { return kernels; }
  Emitter &emit() { return emitter; }
  mlir::OpBuilder &builder() { return opBuilder; }

  /// `count` elements on the stack, 64-byte aligned.
  mlir::Value stackArray(mlir::Type element, int64_t count);

  /// Builds the loop over the tiles [begin, min(end, grid)).
  void tiles(int64_t grid, llvm::function_ref<void(mlir::Value tile)> body);

  /// Names the function by its content and returns the launch. Where the module already has that kernel, this
  /// one is dropped.
  KernelLaunch finish(int64_t flops = 0);

private:
  /// Renames `made` by its content, or drops it for the equal one that exists. Equal code for operands of
  /// other sizes is another kernel, as a plan says how much of its operands a kernel may touch.
  std::string nameByContent(mlir::func::FuncOp made, llvm::StringRef prefix,
                            llvm::ArrayRef<KernelParam> launched);

  mlir::ModuleOp kernels;
  std::string kind;
  mlir::OpBuilder opBuilder;
  Emitter emitter;
  mlir::func::FuncOp function;
  llvm::SmallVector<KernelParam> params;
  llvm::SmallVector<int64_t> streams; ///< what the arguments behind the first three are called with
  int64_t grid = 0;
};

/// Types of a function's arguments: pointers, then i64s.
llvm::SmallVector<mlir::Type> argumentTypes(mlir::MLIRContext *context, unsigned pointers, unsigned integers);

/// The name of an internal function that depends on an element type as well.
std::string typedName(llvm::StringRef name, mlir::Type element);

/// A private function that kernels call, made at its first use: `body` fills it. It has no results. Whatever
/// its code depends on is part of its name.
mlir::func::FuncOp internalFunction(mlir::ModuleOp kernels, llvm::StringRef name, mlir::TypeRange inputs,
                                    llvm::function_ref<void(Emitter &, mlir::func::FuncOp)> body);

/// Hides a function that kernels call from the outside of their object.
void makeInternal(mlir::func::FuncOp function);

/// Elements of a static tensor.
int64_t elementCount(mlir::Value tensor);

/// A parameter that is all of a tensor.
KernelParam operandParam(mlir::Operation *op, unsigned index);
KernelParam resultParam(mlir::Operation *op, unsigned index, Access access = Access::Write);
KernelParam scratchParam(GeneratedKernels &kernels, unsigned index, Access access, mlir::Type element);

} // namespace trainc::codegen
