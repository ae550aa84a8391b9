// --kernels --target=cuda: a plan of all functions of a file, on a GPU.
#pragma once

#include "Modes.h"
#include "tools/cases/cases.h"

namespace trainc::check {

/// A plan that computes functions, and what must come out.
struct PlannedCases {
  std::vector<mlir::func::FuncOp> functions;
  std::vector<cases::Case> cases; ///< in the order of the functions
  std::vector<uint8_t> plan;      ///< empty where no function runs a kernel
};

/// Compiles those functions of `file` that run kernels or call libraries, with machine code for `levels`
/// (`gpu_levels` of train.program), and runs the reference. What is wrong is reported at the function or op.
mlir::FailureOr<PlannedCases> planForGpu(mlir::ModuleOp file, const KernelBound &bound,
                                         llvm::StringRef levels);

} // namespace trainc::check
