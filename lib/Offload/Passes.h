// Passes that offload states and activations.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Offload/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Offload/Passes.h.inc"

namespace codegen {
class Summaries;
}

/// Creates the pass offload with summaries that are shared with other passes and plans.
std::unique_ptr<mlir::Pass> createOffload(std::shared_ptr<codegen::Summaries> summaries);

} // namespace trainc
