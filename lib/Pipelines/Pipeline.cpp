#include "lib/Pipelines/Pipeline.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Plan/Plan.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Target.h"
#include "lib/Fusion/Passes.h"
#include "lib/Instantiate/Passes.h"
#include "lib/Memory/Passes.h"
#include "lib/Offload/Passes.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Queries.h"
#include "lib/Pipelines/Report.h"
#include "lib/Pipelines/Snapshots.h"
#include "lib/Plan/PlanFile.h"
#include "lib/Precision/Passes.h"
#include "lib/Remat/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Shard/Passes.h"
#include "lib/Step/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>

using namespace mlir;

namespace trainc {

void registerDialects(DialectRegistry &registry) {
  registry.insert<nn::NNDialect, train::TrainDialect, dist::DistDialect, plan::PlanDialect>();
  // Dialects of kernels, in the phase `plan`.
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
}

void registerPasses() {
  registerTransformsPasses();
  registerTraincInstantiatePasses();
  registerTraincPrecisionPasses();
  registerTraincAutodiffPasses();
  registerTraincOptimizerPasses();
  registerTraincRematPasses();
  registerTraincStepPasses();
  registerTraincShardPasses();
  registerTraincFusionPasses();
  registerTraincSchedulePasses();
  registerTraincOffloadPasses();
  registerTraincCodegenPasses();
  registerTraincMemoryPasses();
}

// --- Phases ---

/// Returns the activation checkpointing of a module's program, after a budget has been resolved.
static train::CheckpointSettings checkpointsOf(ModuleOp module) {
  for (auto program : module.getOps<train::ProgramOp>())
    return train::checkpointsOf(program);
  return {};
}

static LogicalResult reportMissingLimit(ModuleOp module) {
  for (auto program : module.getOps<train::ProgramOp>())
    return program.emitError("--largest-batch fits micro-batches into a memory limit, and the program has "
                             "none; expected memory_limit SIZE (--memory-limit=SIZE)");
  return success();
}

/// Decides the settings that a memory limit leaves open, if the module has a program with a limit.
static FailureOr<Planning> decide(ModuleOp module, const CompileOptions &options) {
  const std::optional<MemoryLimit> limit = passConditionsOf(module, options).memoryLimit;
  if (!limit && options.findsLargestBatch && failed(reportMissingLimit(module)))
    return failure();
  if (!limit)
    return Planning();
  FailureOr<Planning> decided = decideWhatFits(module, options, limit->bytes);
  if (succeeded(decided) && options.findsLargestBatch) {
    FailureOr<std::vector<EvaluatedStrategy>> largest = findLargestBatches(module, options, limit->bytes);
    if (failed(largest))
      return failure();
    decided->limit = limit->bytes;
    decided->largestBatches = std::move(*largest);
  }
  return decided;
}

LogicalResult runPhases(ModuleOp module, const CompileOptions &options, Snapshots *snapshots,
                        llvm::function_ref<void(const Planning &)> whenPlanned) {
  const Phase last = options.compileTo.value_or(Phase::Plan);
  if (failed(applySettings(module, options)))
    return failure();
  FailureOr<Planning> planning = last > Phase::Model ? decide(module, options) : Planning();
  if (failed(planning))
    return failure();
  PassConditions conditions = passConditionsOf(module, options);
  if (conditions.memoryLimit)
    conditions.memoryLimit->hostThatFits = planning->hostThatFits;
  if (snapshots)
    snapshots->write("model", module);
  const auto lacksSnapshot = [&] { return snapshots && snapshots->failed(); };
  if (lacksSnapshot())
    return failure();
  auto run = [&](llvm::function_ref<void(PassManager &)> addPasses) {
    PassManager manager(module.getContext());
    if (snapshots)
      manager.addInstrumentation(snapshots->instrumentation());
    addPasses(manager);
    return failure(failed(manager.run(module)) || lacksSnapshot());
  };
  if (last >= Phase::Step && failed(run([&](PassManager &manager) { addStepPasses(manager, conditions); })))
    return failure();
  if (conditions.memoryLimit && last >= Phase::Step)
    for (auto program : module.getOps<train::ProgramOp>())
      conditions.memoryLimit->combinedSamples = program.getCombinedSamples().value_or("");
  const bool spendsBudget = last >= Phase::Step && conditions.hasBudget;
  if (spendsBudget && failed(chooseCheckpoints(module, conditions, conditions.memoryLimit->bytes, *planning)))
    return failure();
  if (whenPlanned)
    whenPlanned(*planning);
  if (spendsBudget && failed(checkBudget(module, *planning)))
    return failure();
  if (failed(run([&](PassManager &manager) {
        if (last >= Phase::Step) {
          const train::CheckpointSettings checkpoints = checkpointsOf(module);
          if (checkpoints.recomputesBlocks)
            manager.addPass(createWarnIdleCheckpoints());
          addRecomputePasses(manager, checkpoints);
        }
        if (last >= Phase::Spmd) {
          addShardPasses(manager, conditions);
          addSpmdPasses(manager, conditions);
        }
        if (last >= Phase::Scheduled) {
          addScheduledPasses(manager, conditions);
          addOffloadPasses(manager, conditions);
          if (conditions.offloads)
            manager.addPass(createWarnIdleOffload());
        }
        if (last >= Phase::Plan)
          addMemoryPasses(manager, conditions);
      })))
    return failure();
  if (last < Phase::Plan)
    return success();
  if (!options.compileTo && failed(checkMemory(module, conditions.memoryLimit, conditions.hostLimit)))
    return failure(); // before code is generated
  return run([&](PassManager &manager) {
    addStreamPasses(manager, conditions);
    addCodePasses(manager);
  });
}

// --- The plan file ---

/// Returns the machine code of a plan's kernels, and of those for the host's cores.
static FailureOr<std::vector<KernelObject>> objectsOf(ModuleOp module) {
  std::vector<KernelObject> result;
  for (auto kernels : module.getOps<ModuleOp>()) {
    auto objects = codegen::Target::of(kernels)->compile(kernels);
    if (failed(objects))
      return failure();
    for (codegen::Object &object : *objects)
      result.push_back(
          {std::move(object.level), std::move(object.features), {object.image.begin(), object.image.end()}});
  }
  return result;
}

/// Returns the plan of a module with the code of its kernels. `report` creates the report after code
/// generation.
static FailureOr<std::vector<uint8_t>>
planWithCode(ModuleOp module, StringRef name,
             llvm::function_ref<std::string(const fb::Plan &, const codegen::Target &)> report) {
  const std::unique_ptr<codegen::Target> target =
      codegen::Target::of(module.lookupSymbol<ModuleOp>("kernels"));
  auto objects = objectsOf(module);
  if (failed(objects))
    return failure();
  int64_t ranks = 1; // without plan.training
  for (auto training : module.getOps<plan::TrainingOp>())
    ranks = int64_t(training.getRanks());
  fb::PlanT tables = writeTables(module);
  const EmittedPlan emitted(tables);
  const std::string text = report(*emitted, *target);
  return serializePlan(std::move(tables), emitted, name, target->name(), target->referenceMachine(ranks),
                       std::move(*objects), text);
}

FailureOr<std::vector<uint8_t>> finishPlan(ModuleOp module, double secondsSoFar, std::string &report,
                                           const Planning *planning) {
  auto start = std::chrono::steady_clock::now();
  // Kernels are created by passes and have no source location for errors.
  plan::TrainingOp training = *module.getOps<plan::TrainingOp>().begin();
  for (auto kernels : module.getOps<ModuleOp>())
    kernels->setLoc(training.getLoc());
  return planWithCode(module, module.getName().value_or("model"),
                      [&](const fb::Plan &plan, const codegen::Target &target) {
                        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
                        report = reportJson(module, plan,
                                            OnThisMachine{target.thisMachine(int64_t(training.getRanks())),
                                                          secondsSoFar + spent.count()},
                                            planning);
                        return reportJson(module, plan, std::nullopt, planning);
                      });
}

FailureOr<std::vector<uint8_t>> planOfEntries(ModuleOp module, StringRef name) {
  PassManager manager(module.getContext());
  manager.addPass(createVerifyScheduledPass());
  PassConditions conditions;
  conditions.padsRows = codegen::Target::chosenFor(module)->rowAlignment() > 1;
  addMemoryPasses(manager, conditions);
  addStreamPasses(manager, conditions);
  addCodePasses(manager);
  if (failed(manager.run(module)))
    return failure();
  for (auto training : llvm::make_early_inc_range(module.getOps<plan::TrainingOp>()))
    training.erase();
  return planWithCode(module, name,
                      [](const fb::Plan &, const codegen::Target &) { return std::string("{}"); });
}

} // namespace trainc
