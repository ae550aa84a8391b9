// What can be checked of a function.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

namespace trainc::check {

/// What a mode found: the largest relative error and the bound it must not exceed. An error that is NaN
/// fails.
struct Outcome {
  double error, bound;
  bool passed() const { return error <= bound; }
};

/// The outcome, nothing where the mode does not apply to the function, or failure after a message.
using Check = mlir::FailureOr<std::optional<Outcome>>;

/// The reference interpreter against the values in check.expect.
Check checkExpected(mlir::func::FuncOp function);
/// Vector-Jacobian products against central differences of the reference, for every float argument.
Check checkGradients(mlir::func::FuncOp function);
/// Composite ops against their decompositions, both interpreted.
Check checkDecompositions(mlir::func::FuncOp function);

/// By how much kernels may miss the reference.
struct KernelBound {
  double relative; ///< for functions without check.kernel_tolerance; of numbers below 1 it is absolute
  /// Numbers of bf16 and f16 on the way may be rounded to the other side. Without, the arguments lead to none
  /// that could.
  bool allowsRounding;
};
enum class KernelTarget { Cpu, Cuda };

/// Machine code for every kernel that the function becomes against the reference, on arguments rounded to
/// their types; the levels of instructions that this CPU has must agree in every bit.
Check checkKernels(mlir::func::FuncOp function, const KernelBound &bound);

/// The functions of a file as training computes them in this precision: casts are inserted as if arguments
/// were parameters.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> narrowed(mlir::ModuleOp file, llvm::StringRef precision);

/// Each op of a model's scheduled entries that runs kernels or calls a library, once, as a function. The
/// precision is written over the model's.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> kernelsOf(mlir::ModuleOp model, KernelTarget target,
                                                             llvm::StringRef precision);

/// A model's program, interpreted on simulated ranks for some steps, against the same training on one rank
/// with as many more micro-batches: all parameters, optimizer states and reported scalars. Fails after a
/// message where ranks end up with different bits. A program that is reproducible over ranks has no bound but
/// 0.
mlir::FailureOr<Outcome> checkRanks(mlir::ModuleOp model, int64_t ranks, double bound);

/// The float attribute `name` of a function, or `otherwise`.
double numberOf(mlir::func::FuncOp function, llvm::StringRef name, double otherwise);

} // namespace trainc::check
