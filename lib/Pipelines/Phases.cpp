#include "lib/Pipelines/Phases.h"

#include "dialects/Train/Adapters.h"
#include "dialects/Train/Offloading.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Adapters/Passes.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Target.h"
#include "lib/Fusion/Passes.h"
#include "lib/Instantiate/Passes.h"
#include "lib/Memory/Passes.h"
#include "lib/Offload/Passes.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Precision/Passes.h"
#include "lib/Remat/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Shard/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace trainc {

/// Returns the minimum rows of a loss's slices. Each slice adds to the gradient of the vocabulary matrix: 8
/// bytes per element, and 6 multiply-adds per element and row. The bytes may take a tenth of that time.
static int64_t rowsOfSlices(Type factor, const codegen::Target &target) {
  constexpr double kBytes = 8, kFlopsOfRow = 6, kShare = 0.1;
  const Machine machine = target.referenceMachine();
  return int64_t(kBytes / machine.bytesPerSecond * workRate(target.productWork(factor), machine) /
                 kFlopsOfRow / kShare);
}

LogicalResult applySettings(ModuleOp module, const CompileOptions &options) {
  for (auto program : module.getOps<train::ProgramOp>())
    if (failed(train::applyOptions(program, options.settings)) ||
        failed(codegen::Target::chosenFor(program)->resolveSettings(program)))
      return failure();
  return success();
}

/// Modules without a program are rejected by the first pass.
PassConditions passConditionsOf(ModuleOp module, const CompileOptions &options) {
  PassConditions conditions;
  const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(module);
  conditions.padsRows = target->rowAlignment() > 1;
  for (auto program : module.getOps<train::ProgramOp>()) {
    conditions.adapts = train::adaptersOf(program).any();
    conditions.manyRanks = train::kRanks.of(program) > 1;
    conditions.flatStates = train::hasFlatStates(program);
    conditions.reproducibleOverRanks = train::shardingOf(program).reproducibleOverRanks;
    conditions.lowPrecision = train::precisionOf(program).computesLow();
    conditions.multipliesFp8 = train::precisionOf(program).multipliesFp8;
    conditions.offloads = train::offloadOf(program).any();
    conditions.copiesOutlast = target->referenceMachine().copiesOutlastEntries;
    conditions.lowEvaluation = !train::precisionOf(program).eval.isF32();
    conditions.narrowGradients = !train::precisionOf(program).reduce.isF32();
    conditions.hasBudget = train::hasBudget(program);
    conditions.fusesEpilogues =
        target->libraryCalls().products && train::kLibraryCalls.given(program) != train::LibraryOps::plain;
    conditions.memoryLimit = memoryLimitOf(program);
    conditions.hostLimit = hostLimitOf(program);
    conditions.chunkLoss.minRows = std::max<int64_t>(
        conditions.chunkLoss.minRows, rowsOfSlices(train::precisionOf(program).compute, *target));
  }
  if (options.chunkLoss)
    conditions.chunkLoss = {options.chunkLoss->minBytes, options.chunkLoss->minRows};
  return conditions;
}

void addStepPasses(PassManager &manager, const PassConditions &conditions) {
  manager.addPass(createInstantiatePass());
  // The adapters' products are cast and differentiated as the model's own are.
  if (conditions.adapts)
    manager.addPass(createAddAdapters());
  // Casts precede the backward, which is derived from them.
  if (conditions.lowPrecision || conditions.lowEvaluation)
    manager.addPass(createInsertCasts());
  if (conditions.lowPrecision) {
    manager.addPass(createNarrowParameters());
    manager.addPass(createScaleLoss());
  }
  manager.addPass(createAutodiff());
  if (conditions.lowPrecision) {
    manager.addPass(createWidenGradients());
    manager.addPass(createRoundSaved());
  }
  // All three products of a layer exist now.
  if (conditions.multipliesFp8)
    manager.addPass(createScaleOperands());
  if (conditions.flatStates)
    manager.addPass(createFlatten());
  manager.addPass(createOptimizer());
  if (conditions.reproducibleOverRanks)
    manager.addPass(createTreeAccumulate());
  if (conditions.lowPrecision)
    manager.addPass(createWorkingCopies());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Before decomposition, because a loss and its gradient are split together with the products around them.
  manager.addPass(createChunkLossPass(conditions.chunkLoss));
  manager.addPass(createDecomposePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createAccumulateInPlace());
  // After all passes that accumulate gradients, which do so in f32.
  if (conditions.narrowGradients)
    manager.addPass(createNarrowGradients());
}

// After the last CSE, and before parameters are gathered for their readers.
void addRecomputePasses(PassManager &manager, const train::CheckpointSettings &checkpoints,
                        const PassConditions &conditions) {
  if (checkpoints.recomputesBlocks) {
    RecomputeBlocksOptions options;
    options.blocks.append(checkpoints.blocks.begin(), checkpoints.blocks.end());
    options.keep.assign(checkpoints.keep.begin(), checkpoints.keep.end());
    manager.addPass(createRecomputeBlocks(options));
  }
  if (checkpoints.recomputesCheap)
    manager.addPass(createRecompute());
  if (conditions.verifiesPhases)
    manager.addPass(createVerifyStepPass());
}

void addShardPasses(PassManager &manager, const PassConditions &conditions) {
  manager.addPass(createEraseBlockUses());
  if (!conditions.manyRanks)
    return;
  manager.addPass(createNarrowGathers());
  manager.addPass(createShard());
}

void addSpmdPasses(PassManager &manager, const PassConditions &conditions) {
  if (!conditions.manyRanks)
    return;
  manager.addPass(createReshard());
  if (conditions.verifiesPhases)
    manager.addPass(createVerifySpmd());
}

void addScheduledPasses(PassManager &manager, const PassConditions &conditions) {
  if (conditions.fusesEpilogues)
    manager.addPass(createFuseEpilogues());
  manager.addPass(createFusePass());
  if (conditions.manyRanks) {
    manager.addPass(createBucketCollectives());
    manager.addPass(createScheduleCollectives(conditions.summaries));
  }
}

// After all passes that decide the order of computation.
void addOffloadPasses(PassManager &manager, const PassConditions &conditions) {
  if (conditions.offloads)
    manager.addPass(createOffload(conditions.summaries));
  if (conditions.verifiesPhases)
    manager.addPass(createVerifyScheduledPass());
}

void addMemoryPasses(PassManager &manager, const PassConditions &conditions) {
  if (conditions.padsRows)
    manager.addPass(createPadRowsPass());
  manager.addPass(createSummariseKernels(conditions.summaries));
  manager.addPass(createPlanMemoryPass());
}

void addStreamPasses(PassManager &manager, const PassConditions &conditions) {
  if (conditions.offloads && conditions.copiesOutlast)
    manager.addPass(createOrderStores());
  manager.addPass(createOrderStreamsPass());
}

void addCodePasses(PassManager &manager) { manager.addPass(createGenerateKernelsPass()); }

} // namespace trainc
