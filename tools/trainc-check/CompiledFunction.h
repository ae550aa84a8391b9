// A function compiled as the compiler would, op by op.
#pragma once

#include "lib/Codegen/Target.h"
#include "lib/Reference/Tensor.h"
#include "runtime/device/cpu/kernel_image.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

#include <map>
#include <string>

namespace trainc::check {

/// The kernels of an op, and the symbols of its launches.
struct CompiledKernels {
  codegen::KernelSummary summary;
  llvm::SmallVector<std::string> symbols;
};

/// Decomposed, fused and with machine code for its kernels. Views and loops are left to the reference,
/// rounded to the element type.
class CompiledFunction {
public:
  /// Compiles a copy of `function`; errors are reported at its ops.
  static mlir::FailureOr<CompiledFunction> compile(mlir::func::FuncOp function);

  /// Levels ("x86-64-v3", ...) that run on this CPU.
  std::vector<std::string> levels() const;
  /// Number of launches of generated kernels.
  size_t launches() const;
  /// Runs on float arguments that are rounded to their types.
  mlir::FailureOr<reference::Tensors> run(const reference::Tensors &arguments,
                                          const std::string &level) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  llvm::DenseMap<mlir::Operation *, CompiledKernels> kernels_;
  std::map<std::string, KernelImage> code_;
};

} // namespace trainc::check
