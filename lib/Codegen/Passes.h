// The pass that generates kernels.
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

/// As the pass summarise-kernels, with summaries of the target that others know or ask as well.
std::unique_ptr<mlir::Pass> createSummariseKernels(std::shared_ptr<codegen::Summaries> summaries);

} // namespace trainc
