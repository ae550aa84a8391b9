// The order of all passes: the only place that knows it.
#pragma once

#include "lib/Pipelines/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace trainc {

class Snapshots;
struct Planning;

/// The dialects that models and the compiler's own IR use.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass of every phase, for trainc-opt.
void registerPasses();

/// Compiles `module` (phase `model`) in place up to options.compileTo, or to phase `plan`. Errors are emitted
/// as diagnostics, a plan that does not fit the memory limit among them. `snapshots`, if any, are written on
/// the way; one that cannot be written is an error, too, and not the model's fault. `whenPlanned`, if any, is
/// called once with the strategies among which a memory limit chose, and the largest micro-batches that fit,
/// if options ask for them.
llvm::LogicalResult runPhases(mlir::ModuleOp module, const CompileOptions &options,
                              Snapshots *snapshots = nullptr,
                              llvm::function_ref<void(const Planning &)> whenPlanned = nullptr);

/// The plan file's FlatBuffer for a module that runPhases brought to phase `plan`: generates machine code and
/// adds the report. `secondsSoFar` is the time the compilation has taken up to now, for the report. What can
/// fail is not the model's fault (the linker's temporary files); it is emitted as a diagnostic.
llvm::FailureOr<std::vector<uint8_t>> finishPlan(mlir::ModuleOp module, double secondsSoFar,
                                                 std::string &report, const Planning *planning = nullptr);

/// The plan file's FlatBuffer for entries of phase `scheduled` that train nothing, as tests of kernels make
/// them. What is wrong is emitted at the op.
llvm::FailureOr<std::vector<uint8_t>> planOfEntries(mlir::ModuleOp module, llvm::StringRef name);

} // namespace trainc
