#include "lib/Pipelines/Pipeline.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Plan/Plan.h"
#include "lib/Adapters/Passes.h"
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
  registerTraincAdaptersPasses();
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

namespace {

/// One compilation of a module, phase by phase.
class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options, Snapshots *snapshots)
      : module_(module), options_(options), snapshots_(snapshots),
        last_(options.compileTo.value_or(Phase::Plan)) {}

  /// Runs all phases up to the last; see runPhases().
  LogicalResult run(llvm::function_ref<void(const Planning &)> whenPlanned);

private:
  bool reaches(Phase phase) const { return last_ >= phase; }
  LogicalResult runPasses(llvm::function_ref<void(PassManager &)> addPasses);
  LogicalResult decideSettings();
  LogicalResult makeStep();
  LogicalResult checkPlanned();
  LogicalResult makePlan();

  ModuleOp module_;
  const CompileOptions &options_;
  Snapshots *snapshots_;
  Phase last_;
  Planning planning_;
  PassConditions conditions_;
};

} // namespace

LogicalResult Compilation::runPasses(llvm::function_ref<void(PassManager &)> addPasses) {
  PassManager manager(module_.getContext());
  if (snapshots_)
    manager.addInstrumentation(snapshots_->instrumentation());
  addPasses(manager);
  return failure(failed(manager.run(module_)) || (snapshots_ && snapshots_->failed()));
}

/// Writes given settings into the program, and those that a memory limit leaves open.
LogicalResult Compilation::decideSettings() {
  if (failed(applySettings(module_, options_)))
    return failure();
  if (reaches(Phase::Step)) {
    FailureOr<Planning> planning = decide(module_, options_);
    if (failed(planning))
      return failure();
    planning_ = std::move(*planning);
  }
  conditions_ = passConditionsOf(module_, options_);
  if (conditions_.memoryLimit)
    conditions_.memoryLimit->hostThatFits = planning_.hostThatFits;
  return success();
}

/// Runs the phase `step` up to activation checkpointing, which a budget then chooses.
LogicalResult Compilation::makeStep() {
  if (failed(runPasses([&](PassManager &manager) { addStepPasses(manager, conditions_); })))
    return failure();
  if (conditions_.memoryLimit)
    for (auto program : module_.getOps<train::ProgramOp>())
      conditions_.memoryLimit->combinedSamples = program.getCombinedSamples().value_or("");
  return conditions_.hasBudget
             ? chooseCheckpoints(module_, conditions_, conditions_.memoryLimit->bytes, planning_)
             : success();
}

/// Fails if the planner has found no strategy that fits. The error is about the smallest one, which is not
/// compiled for it.
LogicalResult Compilation::checkPlanned() {
  if (options_.compileTo || planning_.strategies.empty() || planning_.fits)
    return success();
  train::ProgramOp program = *module_.getOps<train::ProgramOp>().begin();
  return checkMemory(program, stepSizesOf(program), planning_.strategies.front().plan.memory,
                     conditions_.memoryLimit, conditions_.hostLimit);
}

/// Runs the rest of the phase `step`, and all further phases up to addresses.
LogicalResult Compilation::makePlan() {
  return runPasses([&](PassManager &manager) {
    const train::CheckpointSettings checkpoints = checkpointsOf(module_);
    if (checkpoints.recomputesBlocks)
      manager.addPass(createWarnIdleCheckpoints());
    addRecomputePasses(manager, checkpoints, conditions_);
    if (reaches(Phase::Spmd)) {
      addShardPasses(manager, conditions_);
      addSpmdPasses(manager, conditions_);
    }
    if (reaches(Phase::Scheduled)) {
      addScheduledPasses(manager, conditions_);
      addOffloadPasses(manager, conditions_);
      if (conditions_.offloads)
        manager.addPass(createWarnIdleOffload());
    }
    if (reaches(Phase::Plan))
      addMemoryPasses(manager, conditions_);
  });
}

LogicalResult Compilation::run(llvm::function_ref<void(const Planning &)> whenPlanned) {
  if (failed(decideSettings()))
    return failure();
  if (snapshots_)
    snapshots_->write("model", module_);
  if (snapshots_ && snapshots_->failed())
    return failure();
  if (reaches(Phase::Step) && failed(makeStep()))
    return failure();
  if (whenPlanned)
    whenPlanned(planning_);
  if (!reaches(Phase::Step))
    return success();
  if ((conditions_.hasBudget && failed(checkBudget(module_, planning_))) || failed(checkPlanned()) ||
      failed(makePlan()))
    return failure();
  if (!reaches(Phase::Plan))
    return success();
  if (!options_.compileTo && failed(checkPlanMemory(module_, conditions_.memoryLimit, conditions_.hostLimit)))
    return failure(); // before code is generated
  return runPasses([&](PassManager &manager) {
    addStreamPasses(manager, conditions_);
    addCodePasses(manager);
  });
}

LogicalResult runPhases(ModuleOp module, const CompileOptions &options, Snapshots *snapshots,
                        llvm::function_ref<void(const Planning &)> whenPlanned) {
  return Compilation(module, options, snapshots).run(whenPlanned);
}

// --- The plan file ---

/// Returns the machine code of all kernel modules: the device's, and those that run on host cores.
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
  fb::PlanT tables = writeTables(module);
  const EmittedPlan emitted(tables);
  const std::string text = report(*emitted, *target);
  return serializePlan(std::move(tables), emitted, name, target->name(),
                       target->referenceMachine(dist::meshOf(module).ranks()), std::move(*objects), text);
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
                                            OnThisMachine{target.thisMachine(dist::meshOf(module).ranks()),
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
