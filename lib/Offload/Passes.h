// Passes that keep tensors outside the device's memory.
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

/// As the pass offload, with summaries of the target that others know or ask as well.
std::unique_ptr<mlir::Pass> createOffload(std::shared_ptr<codegen::Summaries> summaries);

} // namespace trainc
