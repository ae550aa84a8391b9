// The compile report: sizes, work and memory of a plan, as JSON.
#pragma once

#include "dialects/Plan/Plan.h"

#include "lib/Pipelines/MemoryReport.h"
#include "lib/Planner/Evaluate.h"
#include "plan/simulate/plan_schedule.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace trainc {

struct Planning;

/// Returns the memory, time and work of a training step of a module of phase `plan` on `machine`. The host's
/// headroom is unlimited.
Evaluation evaluationOf(mlir::ModuleOp module, const Machine &machine);

/// Parts of a report that depend on the compiling machine.
struct OnThisMachine {
  Machine machine; ///< a rank's share of it, for predictions
  double compileSeconds;
};

/// Returns the report of a module of phase `plan`, whose tables are `plan`, as JSON
/// (docs/reference/compile-report.md). Without `here`, equal models have equal reports. `planning` has the
/// strategies among which a memory limit chose; null if there is no limit.
std::string reportJson(mlir::ModuleOp module, const fb::Plan &plan, std::optional<OnThisMachine> here,
                       const Planning *planning = nullptr);

} // namespace trainc
