// Checks of a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

namespace trainc::check {

/// Result of a check: the maximum relative error and its bound. An error that is NaN fails.
struct Outcome {
  double error, bound;
  bool passed() const { return error <= bound; }
};

/// The outcome, nothing if the mode does not apply to the function, or failure after a message.
using Check = mlir::FailureOr<std::optional<Outcome>>;

/// Compares the reference interpreter with the values in check.expect.
Check checkExpected(mlir::func::FuncOp function);
/// Compares vector-Jacobian products with central differences of the reference, for every float argument.
Check checkGradients(mlir::func::FuncOp function);
/// Compares composite ops with their decompositions, both interpreted.
Check checkDecompositions(mlir::func::FuncOp function);

/// Allowed error of kernels against the reference.
struct KernelBound {
  double relative; ///< for functions without check.kernel_tolerance; absolute for magnitudes below 1
  /// Whether intermediate bf16 and f16 numbers may be rounded to the other neighbour. Otherwise the arguments
  /// avoid such cases.
  bool allowsRounding;
};
enum class KernelTarget { Cpu, Cuda };

/// Compares the machine code of every kernel of the function with the reference, on arguments rounded to
/// their types; all instruction-set levels that this CPU supports must give the same bits.
Check checkKernels(mlir::func::FuncOp function, const KernelBound &bound);

/// Rewrites the functions of a file as training computes them in this precision: casts are inserted as if
/// arguments were parameters.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> narrowed(mlir::ModuleOp file, llvm::StringRef precision);

/// Extracts each distinct op of a model's scheduled entries that runs kernels or calls a library as a
/// function. `precision` overrides the model's.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> kernelsOf(mlir::ModuleOp model, KernelTarget target,
                                                             llvm::StringRef precision);

/// Interprets some steps of a model's program on simulated ranks, and compares all parameters, optimizer
/// states and reported scalars with the same training on one rank with proportionally more micro-batches.
/// Fails with a message if ranks end up with different bits. The bound is 0 for a program that is
/// reproducible over ranks.
mlir::FailureOr<Outcome> checkRanks(mlir::ModuleOp model, int64_t ranks, double bound);

/// The float attribute `name` of a function, or `otherwise`.
double numberOf(mlir::func::FuncOp function, llvm::StringRef name, double otherwise);

} // namespace trainc::check
