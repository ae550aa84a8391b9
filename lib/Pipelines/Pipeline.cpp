#include "lib/Pipelines/Pipeline.h"

#include "dialects/Dist/Dist.h"
#include "dialects/Plan/Plan.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Autodiff/Passes.h"
#include "lib/Codegen/Passes.h"
#include "lib/Codegen/Target.h"
#include "lib/Fusion/Passes.h"
#include "lib/Instantiate/Passes.h"
#include "lib/Memory/Passes.h"
#include "lib/Optimizer/Passes.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Report.h"
#include "lib/Pipelines/Snapshots.h"
#include "lib/Pipelines/Unsharding.h"
#include "lib/Precision/Passes.h"
#include "lib/Remat/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Shard/Passes.h"
#include "lib/Step/Passes.h"
#include "lib/Target/PlanFile.h"

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
  // What kernels are made of, in the phase `plan`.
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
  registerTraincCodegenPasses();
  registerTraincMemoryPasses();
}

// --- Phases ---

namespace {
/// What the program says about which passes run.
struct Strategy {
  bool manyRanks = false, flatStates = false, reproducibleOverRanks = false, recomputes = false,
       fusesEpilogues = false, padsRows = false, lowPrecision = false, lowEvaluation = false,
       narrowGradients = false, multipliesFp8 = false;
  std::optional<MemoryLimit> memoryLimit;
  ChunkLossPassOptions chunkLoss;
};
} // namespace

/// Each slice of a loss adds to the gradient of the vocabulary's matrix: 8 bytes for each of its elements,
/// and 6 multiplications and additions for each of its elements and row. The bytes may take a tenth of that.
static int64_t rowsOfSlices(Type factor, const codegen::Target &target) {
  constexpr double kBytes = 8, kFlopsOfRow = 6, kShare = 0.1;
  const Machine machine = target.referenceMachine();
  return int64_t(kBytes / machine.bytesPerSecond * workRate(target.productWork(factor), machine) /
                 kFlopsOfRow / kShare);
}

/// Modules without a program are refused by the first pass.
static Strategy strategyOf(ModuleOp module) {
  Strategy strategy;
  const std::unique_ptr<codegen::Target> target = codegen::Target::chosenFor(module);
  strategy.padsRows = target->rowBorder() > 1;
  for (auto program : module.getOps<train::ProgramOp>()) {
    strategy.manyRanks = program.getRanks() > 1;
    strategy.flatStates = train::hasFlatStates(program);
    strategy.reproducibleOverRanks = train::shardingOf(program).reproducibleOverRanks;
    strategy.lowPrecision = train::precisionOf(program).computesLow();
    strategy.multipliesFp8 = train::precisionOf(program).multipliesFp8;
    strategy.lowEvaluation = !train::precisionOf(program).eval.isF32();
    strategy.narrowGradients = !train::precisionOf(program).reduce.isF32();
    strategy.recomputes = program.getActivationCheckpointing() == "selective";
    strategy.fusesEpilogues = target->libraryCalls().products && program.getLibraryCalls() != "plain";
    strategy.memoryLimit = memoryLimitOf(program);
    strategy.chunkLoss.minRows = std::max<int64_t>(
        strategy.chunkLoss.minRows, rowsOfSlices(train::precisionOf(program).compute, *target));
  }
  return strategy;
}

/// model -> step: whole tensors, forward, backward and update, in primitive ops.
static void addStepPasses(PassManager &manager, const Strategy &strategy) {
  manager.addPass(createInstantiatePass());
  // Casts before the backward, which follows from them.
  if (strategy.lowPrecision || strategy.lowEvaluation)
    manager.addPass(createInsertCasts());
  if (strategy.lowPrecision) {
    manager.addPass(createNarrowParameters());
    manager.addPass(createScaleLoss());
  }
  manager.addPass(createAutodiff());
  if (strategy.lowPrecision) {
    manager.addPass(createWidenGradients());
    manager.addPass(createRoundSaved());
  }
  // All three products of a layer exist.
  if (strategy.multipliesFp8)
    manager.addPass(createScaleOperands());
  if (strategy.flatStates)
    manager.addPass(createFlatten());
  manager.addPass(createOptimizer());
  if (strategy.reproducibleOverRanks)
    manager.addPass(createTreeAccumulate());
  if (strategy.lowPrecision)
    manager.addPass(createWorkingCopies());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Before composite ops fall apart: a loss and its gradient are cut along with the products around them.
  manager.addPass(createChunkLossPass(strategy.chunkLoss));
  manager.addPass(createDecomposePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createAccumulateInPlace());
  // Behind those who add gradients up, in f32.
  if (strategy.narrowGradients)
    manager.addPass(createNarrowGradients());
  // Behind the last CSE, and before parameters are gathered for those who read them.
  if (strategy.recomputes)
    manager.addPass(createRecompute());
  manager.addPass(createVerifyStepPass());
}

/// step -> spmd: what each rank does, parameters gathered once. One rank alone does the step as it is; blocks
/// are no units any more.
static void addShardPasses(PassManager &manager, const Strategy &strategy) {
  manager.addPass(createEraseBorders());
  if (!strategy.manyRanks)
    return;
  manager.addPass(createNarrowGathers());
  manager.addPass(createShard());
}

/// The rest of the phase spmd.
static void addSpmdPasses(PassManager &manager, const Strategy &strategy) {
  if (!strategy.manyRanks)
    return;
  manager.addPass(createReshard());
  manager.addPass(createVerifySpmd());
}

/// spmd -> scheduled: fused ops and those that stay alone, in final order.
static void addScheduledPasses(PassManager &manager, const Strategy &strategy) {
  if (strategy.fusesEpilogues)
    manager.addPass(createFuseEpilogues());
  manager.addPass(createFusePass());
  if (strategy.manyRanks) {
    manager.addPass(createBucketCollectives());
    manager.addPass(createScheduleCollectives());
  }
  manager.addPass(createVerifyScheduledPass());
}

/// scheduled -> plan, all but code: what kernels need, then addresses.
static void addMemoryPasses(PassManager &manager, bool padsRows) {
  if (padsRows)
    manager.addPass(createPadRowsPass());
  manager.addPass(createSummariseKernelsPass());
  manager.addPass(createPlanMemoryPass());
}

/// The rest of the phase plan.
static void addCodePasses(PassManager &manager) {
  manager.addPass(createOrderStreamsPass());
  manager.addPass(createGenerateKernelsPass());
}

LogicalResult runPhases(ModuleOp module, const CompileOptions &options, Snapshots *snapshots) {
  for (auto program : module.getOps<train::ProgramOp>())
    if (failed(train::applyOptions(program, options.settings)) ||
        failed(codegen::Target::chosenFor(program)->settle(program)))
      return failure();
  Strategy strategy = strategyOf(module);
  if (options.chunkLoss)
    strategy.chunkLoss = {options.chunkLoss->minBytes, options.chunkLoss->minRows};
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
  const Phase last = options.compileTo.value_or(Phase::Plan);
  auto addStep = [&](PassManager &manager) {
    if (last >= Phase::Step)
      addStepPasses(manager, strategy);
    if (last >= Phase::Spmd)
      addShardPasses(manager, strategy);
  };
  auto addRest = [&](PassManager &manager, Phase until) {
    if (until >= Phase::Spmd)
      addSpmdPasses(manager, strategy);
    if (until >= Phase::Scheduled)
      addScheduledPasses(manager, strategy);
    if (until >= Phase::Plan)
      addMemoryPasses(manager, strategy.padsRows);
  };
  if (failed(run(addStep)))
    return failure();
  if (last >= Phase::Spmd && strategy.memoryLimit &&
      failed(gatherWhatFits(module, strategy.memoryLimit->bytes,
                            [&](PassManager &m) { addRest(m, Phase::Plan); })))
    return failure();
  if (failed(run([&](PassManager &manager) { addRest(manager, last); })))
    return failure();
  if (last < Phase::Plan)
    return success();
  if (!options.compileTo && strategy.memoryLimit && failed(checkMemoryLimit(module, *strategy.memoryLimit)))
    return failure(); // without having made code
  return run(addCodePasses);
}

// --- The plan file ---

static std::vector<KernelObject> toKernelObjects(std::vector<codegen::Object> objects) {
  std::vector<KernelObject> result;
  for (codegen::Object &object : objects)
    result.push_back(
        {std::move(object.level), std::move(object.features), {object.image.begin(), object.image.end()}});
  return result;
}

/// The plan of a module, with the code of its kernels. `report` makes the report in it, after the code.
static FailureOr<std::vector<uint8_t>>
planWithCode(ModuleOp module, StringRef name,
             llvm::function_ref<std::string(const codegen::Target &)> report) {
  auto kernels = module.lookupSymbol<ModuleOp>("kernels");
  const std::unique_ptr<codegen::Target> target = codegen::Target::of(kernels);
  auto objects = target->compile(kernels);
  if (failed(objects))
    return failure();
  return serializePlan(module, name, target->name(), target->referenceMachine(),
                       toKernelObjects(std::move(*objects)), report(*target));
}

FailureOr<std::vector<uint8_t>> finishPlan(ModuleOp module, double secondsSoFar, std::string &report) {
  auto start = std::chrono::steady_clock::now();
  // Made by passes, the kernels have no place of their own to name in errors.
  plan::TrainingOp training = *module.getOps<plan::TrainingOp>().begin();
  module.lookupSymbol<ModuleOp>("kernels")->setLoc(training.getLoc());
  return planWithCode(module, module.getName().value_or("model"), [&](const codegen::Target &target) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    report = reportJson(module, OnThisMachine{target.thisMachine(int64_t(training.getRanks())),
                                              secondsSoFar + spent.count()});
    return reportJson(module, std::nullopt);
  });
}

FailureOr<std::vector<uint8_t>> planOfEntries(ModuleOp module, StringRef name) {
  PassManager manager(module.getContext());
  manager.addPass(createVerifyScheduledPass());
  addMemoryPasses(manager, codegen::Target::chosenFor(module)->rowBorder() > 1);
  addCodePasses(manager);
  if (failed(manager.run(module)))
    return failure();
  for (auto training : llvm::make_early_inc_range(module.getOps<plan::TrainingOp>()))
    training.erase();
  return planWithCode(module, name, [](const codegen::Target &) { return std::string("{}"); });
}

} // namespace trainc
