// The compile report: sizes, work and memory of a plan, as JSON.
#pragma once

#include "dialects/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace trainc {

/// Bytes per rank, by what they are for. Scratch is attributed by what is in use when most of it is.
struct MemoryReport {
  int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, workspace = 0;
  /// All arenas together: exactly what the runtime allocates.
  int64_t peak = 0;
};

/// Sums the arenas of a module of phase `plan`.
MemoryReport memoryReport(mlir::ModuleOp module);

/// The report as JSON (docs/report.md): parameters, flops_per_step, memory, collectives,
/// predicted_step_seconds and, where given, compile_seconds.
std::string reportJson(mlir::ModuleOp module, std::optional<double> compileSeconds);

} // namespace trainc
