// The passes of each phase, in order, for whoever compiles and whoever only plans.
#pragma once

#include "dialects/Train/Checkpoints.h"
#include "lib/Codegen/Summaries.h"
#include "lib/Pipelines/CompileOptions.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Step/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace trainc {

/// What a program says about which passes run.
struct Strategy {
  bool manyRanks = false, flatStates = false, reproducibleOverRanks = false, fusesEpilogues = false,
       padsRows = false, lowPrecision = false, lowEvaluation = false, narrowGradients = false,
       multipliesFp8 = false, offloads = false,
       copiesOutlast = false; ///< entries, on the target's device
  std::optional<MemoryLimit> memoryLimit;
  std::optional<HostLimit> hostLimit;
  bool hasBudget = false; ///< what is computed again is chosen for the limit
  ChunkLossPassOptions chunkLoss;
  /// Of the target: all plans that copies of the strategy make know them together.
  std::shared_ptr<codegen::Summaries> summaries = std::make_shared<codegen::Summaries>();
};

/// Writes the options' settings into the module's program, before any pass reads it. Fails, with an error at
/// the program, where they contradict each other or the target.
llvm::LogicalResult applySettings(mlir::ModuleOp module, const CompileOptions &options);

/// What the program of a module of phase `model` says, with its settings.
Strategy strategyOf(mlir::ModuleOp module, const CompileOptions &options);

/// Gives values their uses in the order that copies of a module have, whoever made it: the
/// compiler makes the plan that a candidate promised. Those who hold ops of the module lose them.
void orderUses(mlir::ModuleOp module);

/// model -> step, up to where activation checkpointing decides: whole tensors, forward, backward and update,
/// in primitive ops.
void addStepPasses(mlir::PassManager &manager, const Strategy &strategy);
/// The rest of the phase `step`: what is computed again, and the phase's proof.
void addRecomputePasses(mlir::PassManager &manager, const train::CheckpointSettings &checkpoints);
/// step -> spmd: what each rank does, parameters gathered once. One rank alone does the step as it is; blocks
/// are no units any more.
void addShardPasses(mlir::PassManager &manager, const Strategy &strategy);
/// The rest of the phase `spmd`.
void addSpmdPasses(mlir::PassManager &manager, const Strategy &strategy);
/// spmd -> scheduled: fused ops and those that stay alone, in final order.
void addScheduledPasses(mlir::PassManager &manager, const Strategy &strategy);
/// The end of the phase `scheduled`: what lies outside the device's memory is copied.
void addOffloadPasses(mlir::PassManager &manager, const Strategy &strategy);
/// scheduled -> plan, all but code: what kernels need, then addresses.
void addMemoryPasses(mlir::PassManager &manager, const Strategy &strategy);
/// Which instruction of another stream each one comes after: what predictions wait for.
void addStreamPasses(mlir::PassManager &manager, const Strategy &strategy);
/// The rest of the phase `plan`.
void addCodePasses(mlir::PassManager &manager);

} // namespace trainc
