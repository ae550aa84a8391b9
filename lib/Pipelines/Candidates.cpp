#include "lib/Pipelines/Candidates.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Codegen/Target.h"

#include "mlir/IR/Threading.h"

using namespace mlir;

namespace trainc {

/// Runs passes whose results are looked at and thrown away; the plan that is taken is verified.
static LogicalResult run(ModuleOp module, llvm::function_ref<void(PassManager &)> addPasses) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  addPasses(manager);
  return manager.run(module);
}

FailureOr<Candidates> Candidates::make(ModuleOp model, const CompileOptions &options) {
  OwningOpRef<ModuleOp> step = model.clone();
  if (failed(applySettings(*step, options)))
    return failure();
  Strategy strategy = strategyOf(*step, options);
  if (failed(run(*step, [&](PassManager &manager) { addStepPasses(manager, strategy); })))
    return failure();
  return Candidates(std::move(step), std::move(strategy));
}

Candidates::Candidates(OwningOpRef<ModuleOp> step, Strategy strategy)
    : step_(std::move(step)), strategy_(std::move(strategy)), scheduled_(std::make_unique<Scheduled>()) {
  for (auto entry : step_->getOps<train::EntryOp>())
    if (!entry.getBody().getOps<train::BorderOp>().empty())
      changing_.insert(entry.getSymName());
}

/// Settings that every entry depends on, in one text.
static std::string sharedSettings(const TriedSettings &tried) {
  std::string text;
  for (const train::GivenSetting &setting : tried)
    if (setting.word != "activation_checkpointing" && !train::findProgramWord(setting.word)->ofCheckpoints)
      text += setting.word + "=" + setting.value + "\n";
  return text;
}

void Candidates::moveOthers(ModuleOp from, ModuleOp to) const {
  for (auto entry : llvm::make_early_inc_range(from.getOps<train::EntryOp>()))
    if (!changing_.contains(entry.getSymName()))
      entry->moveBefore(to.getBody(), to.getBody()->end());
}

/// A copy of the other entries with these settings; null if they were not scheduled yet.
OwningOpRef<ModuleOp> Candidates::findScheduled(const std::string &shared) const {
  const std::lock_guard lock(scheduled_->mutex);
  auto known = scheduled_->entries.find(shared);
  return known == scheduled_->entries.end() ? OwningOpRef<ModuleOp>() : known->second->clone();
}

/// Keeps a copy of the module's other entries, unless another thread did, and puts them behind the rest.
void Candidates::keepScheduled(const std::string &shared, ModuleOp module) const {
  OwningOpRef<ModuleOp> others = ModuleOp::create(module.getLoc());
  moveOthers(module, *others);
  {
    const std::lock_guard lock(scheduled_->mutex);
    if (OwningOpRef<ModuleOp> &kept = scheduled_->entries[shared]; !kept)
      kept = others->clone();
  }
  moveOthers(*others, module);
}

/// From the phase `spmd` on entries have nothing to do with each other until addresses are assigned. Those
/// that activation checkpointing does not change are scheduled once, or by each thread that finds none; not
/// so with offload, which looks at what all entries do with a state.
LogicalResult Candidates::schedule(ModuleOp module, const Strategy &strategy,
                                   const TriedSettings &tried) const {
  auto addPasses = [&](PassManager &manager) { addScheduledPasses(manager, strategy); };
  if (strategy.offloads)
    return run(module, addPasses);
  const std::string shared = sharedSettings(tried);
  const OwningOpRef<ModuleOp> others = findScheduled(shared);
  if (!others) {
    if (failed(run(module, addPasses)))
      return failure();
    keepScheduled(shared, module);
    return success();
  }
  const OwningOpRef<ModuleOp> unscheduled = ModuleOp::create(module.getLoc());
  moveOthers(module, *unscheduled);
  if (failed(run(module, addPasses)))
    return failure();
  moveOthers(*others, module);
  return success();
}

/// From the step with its settings, which are `tried` at last, to the phase `plan`.
LogicalResult Candidates::bringToPlan(ModuleOp module, train::ProgramOp program,
                                      const TriedSettings &tried) const {
  const train::CheckpointSettings checkpoints = train::checkpointsOf(program);
  Strategy strategy = strategy_;
  strategy.offloads = train::offloadOf(program).any(); // which may be tried
  const auto addSpmd = [&](PassManager &manager) {
    addRecomputePasses(manager, checkpoints);
    addShardPasses(manager, strategy);
    addSpmdPasses(manager, strategy);
  };
  const auto addPlan = [&](PassManager &manager) {
    addMemoryPasses(manager, strategy.padsRows);
    addStreamPasses(manager);
  };
  return failure(failed(run(module, addSpmd)) || failed(schedule(module, strategy, tried)) ||
                 failed(run(module, addPlan)));
}

FailureOr<CandidatePlan> Candidates::plan(const TriedSettings &tried, const Machine *machine) const {
  OwningOpRef<ModuleOp> module = step().clone();
  train::ProgramOp program = *module->getOps<train::ProgramOp>().begin();
  train::setDerived(program, tried, "a trial");
  const Machine reference = codegen::Target::chosenFor(*module)->referenceMachine();
  const std::optional<HostLimit> hostMay = hostLimitOf(program);
  if (failed(bringToPlan(*module, program, tried)))
    return failure();
  CandidatePlan plan{memoryReport(*module), predictStep(*module, machine ? *machine : reference),
                     flopsPerStep(*module), sentBytesPerStep(*module)};
  if (hostMay)
    plan.hostLeft = hostMay->share() - plan.memory.host.total();
  return plan;
}

LogicalResult planEach(MLIRContext *context, size_t count, bool firstAlone,
                       llvm::function_ref<LogicalResult(size_t)> plan) {
  context->loadAllAvailableDialects(); // which no two threads may do
  const size_t alone = firstAlone && count > 0 ? 1 : 0;
  if (alone > 0 && failed(plan(0)))
    return failure();
  return failableParallelForEachN(context, alone, count, plan);
}

} // namespace trainc
