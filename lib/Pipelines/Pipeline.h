// Compilation through all phases.
#pragma once

#include "lib/Pipelines/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace trainc {

class Snapshots;
struct Planning;

/// Registers the dialects of models and of the compiler's IR.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers every pass of every phase, for trainc-opt.
void registerPasses();

/// Compiles `module` (phase `model`) in place up to options.compileTo, or to phase `plan`. Errors are emitted
/// as diagnostics, including a plan that exceeds the memory limit. `snapshots` are written after passes if
/// given; failure to write one is an error as well, though not the model's fault. `whenPlanned`, if given, is
/// called once with the strategies among which a memory limit chose, and the largest micro-batches that fit
/// if options ask for them.
llvm::LogicalResult runPhases(mlir::ModuleOp module, const CompileOptions &options,
                              Snapshots *snapshots = nullptr,
                              llvm::function_ref<void(const Planning &)> whenPlanned = nullptr);

/// Returns the plan file's FlatBuffer for a module that runPhases brought to phase `plan`: generates machine
/// code and adds the report. `secondsSoFar` is the compile time up to now, for the report. Failures are not
/// the model's fault (the linker's temporary files); they are emitted as diagnostics.
llvm::FailureOr<std::vector<uint8_t>> finishPlan(mlir::ModuleOp module, double secondsSoFar,
                                                 std::string &report, const Planning *planning = nullptr);

/// Returns the plan file's FlatBuffer for entries of phase `scheduled` without a training program, for tests
/// of kernels. Errors are emitted at the op.
llvm::FailureOr<std::vector<uint8_t>> planOfEntries(mlir::ModuleOp module, llvm::StringRef name);

} // namespace trainc
