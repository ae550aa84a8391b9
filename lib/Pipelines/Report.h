// The compile report: sizes, work and memory of a plan, as JSON.
#pragma once

#include "dialects/Plan/Plan.h"

#include "lib/Analysis/CostModel.h"
#include "lib/Pipelines/MemoryReport.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace trainc {

struct Planning;

/// Floating-point operations of a rank in a training step: the model's, and those that activation
/// checkpointing computes a second time.
struct StepFlops {
  int64_t model = 0, recomputed = 0;
};
StepFlops flopsPerStep(mlir::ModuleOp module);

/// Bytes that each rank sends in a training step.
int64_t sentBytesPerStep(mlir::ModuleOp module);

/// What a training step takes where `machine` runs the ranks.
StepSeconds predictStep(mlir::ModuleOp module, const Machine &machine);

/// What of a report depends on the machine that compiles.
struct OnThisMachine {
  Machine machine; ///< what a rank has of it, for predictions
  double compileSeconds;
};

/// The report as JSON (docs/reference/compile-report.md); with nothing of this machine, equal models have equal reports.
/// `planning`: the strategies among which a memory limit chose, if one did.
std::string reportJson(mlir::ModuleOp module, std::optional<OnThisMachine> here,
                       const Planning *planning = nullptr);

} // namespace trainc
