// The compile report: sizes, work and memory of a plan, as JSON.
#pragma once

#include "dialects/Plan/Plan.h"

#include "lib/Analysis/CostModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace trainc {

struct Planning;

/// Bytes per rank, by what they are for. All of the scratch arena counts as activations.
struct MemoryReport {
  int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, workspace = 0;
  /// What lies in the memory of a GPU's host, and on disk: the kinds above are without it.
  int64_t host = 0, disk = 0;
  /// All arenas together, but for those on disk: exactly what the runtime allocates.
  int64_t peak = 0;
  /// What a process that trains takes besides, at most: batches and staging by their sizes, and for the
  /// program, its libraries, the plan with its kernels, and stacks as much as a test measures for any plan
  /// (test/end_to_end/memory_test.py).
  int64_t unplanned = 0;
  /// On a GPU, whose memory is not the process's: what the program reserves there (reserve_memory).
  bool isReserve = false;

  /// What counts against a memory limit: the process's memory, or a GPU's.
  int64_t limited() const { return isReserve ? peak - host : peak; }
  /// The least limit that this fits into.
  int64_t needed() const { return limited() + unplanned; }
};

/// Sums the arenas of a module of phase `plan`, and what the runtime holds beside them.
MemoryReport memoryReport(mlir::ModuleOp module);

/// Each of its bytes by name.
llvm::json::Object memoryJson(const MemoryReport &memory);

/// Floating-point operations of a rank in a training step: the model's, and those that activation
/// checkpointing computes a second time.
struct StepFlops {
  int64_t model = 0, recomputed = 0;
};
StepFlops flopsPerStep(mlir::ModuleOp module);

/// Bytes that each rank sends in a training step.
int64_t sentBytesPerStep(mlir::ModuleOp module);

/// What a training step takes where `machine` runs the ranks.
EntrySeconds predictStep(mlir::ModuleOp module, const Machine &machine);

/// What of a report depends on the machine that compiles.
struct OnThisMachine {
  Machine machine; ///< what a rank has of it, for predictions
  double compileSeconds;
};

/// The report as JSON (docs/report.md); with nothing of this machine, equal models have equal reports.
/// `planning`: the strategies among which a memory limit chose, if one did.
std::string reportJson(mlir::ModuleOp module, std::optional<OnThisMachine> here,
                       const Planning *planning = nullptr);

} // namespace trainc
