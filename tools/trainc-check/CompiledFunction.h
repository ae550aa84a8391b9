// A function compiled like a model, op by op.
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

/// A function, decomposed and fused, with machine code for its kernels. The reference executes views and
/// loops, rounded to the element type.
class CompiledFunction {
public:
  /// Compiles a copy of `function`; errors are reported at its ops.
  static mlir::FailureOr<CompiledFunction> compile(mlir::func::FuncOp function);

  /// Levels ("x86-64-v3", ...) that this CPU supports.
  std::vector<std::string> levels() const;
  /// Number of launches of generated kernels.
  size_t launches() const;
  /// Runs the function; float arguments are first rounded to their types.
  mlir::FailureOr<reference::Tensors> run(const reference::Tensors &arguments,
                                          const std::string &level) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  llvm::DenseMap<mlir::Operation *, CompiledKernels> kernels_;
  std::map<std::string, KernelImage> code_;
};

} // namespace trainc::check
