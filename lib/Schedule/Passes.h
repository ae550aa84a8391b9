// Passes that place collectives in time.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Schedule/Passes.h.inc"

namespace codegen {
class Summaries;
}

/// As the pass schedule-collectives, with summaries of the target that others know or ask as well.
std::unique_ptr<mlir::Pass> createScheduleCollectives(std::shared_ptr<codegen::Summaries> summaries);

} // namespace trainc
