// Memory of a plan and of the process that runs it.
#pragma once

#include "lib/Planner/Memory.h"
#include "plan/schema/plan_generated.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace trainc {

/// Sums the arenas of a module of phase `plan`, whose tables are `plan`, and estimates the runtime's other
/// memory.
MemoryReport memoryReport(mlir::ModuleOp module, const fb::Plan &plan);

/// Returns the bytes by name, as numbers only; for `host` and `disk` the totals.
llvm::json::Object memoryJson(const MemoryReport &memory);
/// Returns the bytes in `host` and on `disk` by kind; empty spaces are omitted.
llvm::json::Object offloadedMemoryJson(const MemoryReport &memory);

/// Returns the bytes of persistent states for each role and element type.
llvm::json::Object memoryByType(const fb::Plan &plan);

} // namespace trainc
