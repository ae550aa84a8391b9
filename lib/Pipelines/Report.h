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

/// Returns the work of a rank in a training step.
StepFlops flopsPerStep(mlir::ModuleOp module);

/// Returns the bytes that each rank sends in a training step.
int64_t sentBytesPerStep(mlir::ModuleOp module);

/// Returns the predicted seconds of a training step on `machine`.
StepSeconds predictStep(mlir::ModuleOp module, const Machine &machine);

/// Parts of a report that depend on the compiling machine.
struct OnThisMachine {
  Machine machine; ///< a rank's share of it, for predictions
  double compileSeconds;
};

/// Returns the report as JSON (docs/reference/compile-report.md). Without `here`, equal models have equal
/// reports. `planning` has the strategies among which a memory limit chose; null if there is no limit.
std::string reportJson(mlir::ModuleOp module, std::optional<OnThisMachine> here,
                       const Planning *planning = nullptr);

} // namespace trainc
