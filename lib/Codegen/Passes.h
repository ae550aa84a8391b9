// Passes that summarise and generate kernels.
#pragma once

#include "dialects/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Codegen/Passes.h.inc"

namespace codegen {
class Summaries;
}

/// Creates the pass summarise-kernels with summaries that are shared with other passes and plans.
std::unique_ptr<mlir::Pass> createSummariseKernels(std::shared_ptr<codegen::Summaries> summaries);

} // namespace trainc
