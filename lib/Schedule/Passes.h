// Passes that schedule collectives.
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

/// Creates the pass schedule-collectives with kernel summaries that other passes and candidate plans share.
std::unique_ptr<mlir::Pass> createScheduleCollectives(std::shared_ptr<codegen::Summaries> summaries);

} // namespace trainc
