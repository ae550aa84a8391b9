// --kernels --target=cuda: one plan with all functions of a file, for a GPU.
#pragma once

#include "Modes.h"
#include "tools/cases/cases.h"

namespace trainc::check {

/// A plan that computes functions, and the expected results.
struct PlannedCases {
  std::vector<mlir::func::FuncOp> functions;
  std::vector<cases::Case> cases; ///< in the order of the functions
  std::vector<uint8_t> plan;      ///< empty if no function runs a kernel
};

/// Compiles the functions of `file` that run kernels or call libraries, with machine code for `levels`
/// (`gpu_levels` of train.program), and runs the reference. Errors are reported at the function or op.
mlir::FailureOr<PlannedCases> planForGpu(mlir::ModuleOp file, const KernelBound &bound,
                                         llvm::StringRef levels);

} // namespace trainc::check
