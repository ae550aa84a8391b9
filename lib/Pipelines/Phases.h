// Passes of each phase, in order, for compilation and planning.
#pragma once

#include "dialects/Train/Checkpoints.h"
#include "lib/Codegen/Summaries.h"
#include "lib/Pipelines/CompileOptions.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Step/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace trainc {

/// Properties of a program that determine which passes run.
struct PassConditions {
  bool adapts = false, manyRanks = false, flatStates = false, reproducibleOverRanks = false,
       fusesEpilogues = false, padsRows = false, lowPrecision = false, lowEvaluation = false,
       narrowGradients = false, multipliesFp8 = false, offloads = false,
       copiesOutlast = false; ///< whether copies outlast entries on the target's device
  std::optional<MemoryLimit> memoryLimit;
  std::optional<HostLimit> hostLimit;
  bool hasBudget = false;     ///< whether recomputation is chosen for the limit
  bool verifiesPhases = true; ///< whether a pass verifies the postcondition of each phase
  ChunkLossPassOptions chunkLoss;
  /// Summaries of the target, shared by all plans made from copies of the conditions.
  std::shared_ptr<codegen::Summaries> summaries = std::make_shared<codegen::Summaries>();
};

/// Writes the options' settings into the module's program, before any pass reads it. Fails with an error at
/// the program if settings contradict each other or the target.
llvm::LogicalResult applySettings(mlir::ModuleOp module, const CompileOptions &options);

/// Returns the conditions of the program of a module of phase `model`, which has its settings.
PassConditions passConditionsOf(mlir::ModuleOp module, const CompileOptions &options);

/// model -> step, up to activation checkpointing: whole tensors, forward, backward and update, in primitive
/// ops.
void addStepPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// The rest of the phase `step`: recomputation and verification.
void addRecomputePasses(mlir::PassManager &manager, const train::CheckpointSettings &checkpoints,
                        const PassConditions &conditions);
/// step -> spmd: the program of each rank, with parameters gathered once. One rank runs the step unchanged.
/// Blocks are no longer units.
void addShardPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// The rest of the phase `spmd`.
void addSpmdPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// spmd -> scheduled: fused and single ops, in final order.
void addScheduledPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// The end of the phase `scheduled`: copies of offloaded tensors.
void addOffloadPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// scheduled -> plan without code: kernel summaries, then addresses.
void addMemoryPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// Dependencies between streams, which predictions need.
void addStreamPasses(mlir::PassManager &manager, const PassConditions &conditions);
/// The rest of the phase `plan`.
void addCodePasses(mlir::PassManager &manager);

} // namespace trainc
