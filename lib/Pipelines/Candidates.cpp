#include "lib/Pipelines/Candidates.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Codegen/Target.h"
#include "lib/Pipelines/MemoryLimit.h"

#include "mlir/IR/Threading.h"

using namespace mlir;

namespace trainc {

/// Runs passes without the verifier; the chosen plan is verified when it is compiled.
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
    : step_(std::move(step)), strategy_(std::move(strategy)), otherEntries_(std::make_unique<Kept>()) {
  for (auto entry : step_->getOps<train::EntryOp>())
    if (!entry.getBody().getOps<train::BorderOp>().empty())
      changing_.insert(entry.getSymName());
}

static bool isOfOffload(const train::GivenSetting &setting) {
  return train::findSetting(setting.word)->theme == train::Theme::Offload;
}

static bool isOfCheckpoints(const train::GivenSetting &setting) {
  return train::findSetting(setting.word)->theme == train::Theme::Checkpointing;
}

static TriedSettings without(const TriedSettings &tried, bool (*isOne)(const train::GivenSetting &)) {
  TriedSettings others;
  llvm::copy_if(tried, std::back_inserter(others), [&](const auto &each) { return !isOne(each); });
  return others;
}

void Candidates::moveOthers(ModuleOp from, ModuleOp to) const {
  for (auto entry : llvm::make_early_inc_range(from.getOps<train::EntryOp>()))
    if (!changing_.contains(entry.getSymName()))
      entry->moveBefore(to.getBody(), to.getBody()->end());
}

OwningOpRef<ModuleOp> Candidates::Kept::find(const std::string &settings) {
  ModuleOp known; // cached modules are never erased
  {
    const std::lock_guard lock(mutex_);
    auto found = modules_.find(settings);
    known = found == modules_.end() ? ModuleOp() : *found->second;
  }
  return known ? known.clone() : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> Candidates::Kept::keep(const std::string &settings, OwningOpRef<ModuleOp> module) {
  OwningOpRef<ModuleOp> copy = module->clone();
  const std::lock_guard lock(mutex_);
  modules_.try_emplace(settings, std::move(module));
  return copy;
}

/// From the phase `spmd` on, entries are independent until tensors are offloaded or addresses are assigned.
/// Entries that activation checkpointing does not change are scheduled once, or once by each thread that does
/// not find them in the cache.
LogicalResult Candidates::schedule(ModuleOp module, const TriedSettings &tried) const {
  auto addPasses = [&](PassManager &manager) { addScheduledPasses(manager, strategy_); };
  const std::string shared = asOptions(without(tried, isOfCheckpoints));
  OwningOpRef<ModuleOp> others = otherEntries_->find(shared);
  const OwningOpRef<ModuleOp> unscheduled = ModuleOp::create(module.getLoc());
  if (others)
    moveOthers(module, *unscheduled);
  if (failed(run(module, addPasses)))
    return failure();
  if (!others) {
    OwningOpRef<ModuleOp> made = ModuleOp::create(module.getLoc());
    moveOthers(module, *made);
    others = otherEntries_->keep(shared, std::move(made));
  }
  moveOthers(*others, module);
  return success();
}

/// Returns the program with these settings in the phase `scheduled`, before offloading; null on failure. A
/// cached program is made once, or once by each thread that does not find it.
OwningOpRef<ModuleOp> Candidates::scheduled(const TriedSettings &tried) const {
  const std::string settings = asOptions(tried);
  if (OwningOpRef<ModuleOp> known = scheduled_ ? scheduled_->find(settings) : nullptr)
    return known;
  OwningOpRef<ModuleOp> module = step().clone();
  train::ProgramOp program = *module->getOps<train::ProgramOp>().begin();
  train::setDerived(program, tried, "a trial");
  const train::CheckpointSettings checkpoints = train::checkpointsOf(program);
  const auto addSpmd = [&](PassManager &manager) {
    addRecomputePasses(manager, checkpoints);
    addShardPasses(manager, strategy_);
    addSpmdPasses(manager, strategy_);
  };
  if (failed(run(*module, addSpmd)) || failed(schedule(*module, tried)))
    return {};
  if (scheduled_)
    return scheduled_->keep(settings, std::move(module)); // a copy
  orderUses(*module);
  return module;
}

/// Writes settings into a module's program, and returns the strategy with them, because offloading may be
/// among them.
static Strategy settle(ModuleOp module, const TriedSettings &tried, Strategy strategy) {
  train::ProgramOp program = *module.getOps<train::ProgramOp>().begin();
  train::setDerived(program, tried, "a trial");
  strategy.offloads = train::offloadOf(program).any();
  return strategy;
}

FailureOr<CandidatePlan> Candidates::plan(const TriedSettings &tried) const {
  OwningOpRef<ModuleOp> module = scheduled(without(tried, isOfOffload));
  if (!module)
    return failure();
  const Strategy strategy = settle(*module, tried, strategy_);
  train::ProgramOp program = *module->getOps<train::ProgramOp>().begin();
  const Machine reference = codegen::Target::chosenFor(*module)->referenceMachine(train::kRanks.of(program));
  const std::optional<HostLimit> hostMay = hostLimitOf(program);
  const auto addPlan = [&](PassManager &manager) {
    addOffloadPasses(manager, strategy);
    addMemoryPasses(manager, strategy);
    addStreamPasses(manager, strategy);
  };
  if (failed(run(*module, addPlan)))
    return failure();
  CandidatePlan plan{memoryReport(*module), predictStep(*module, reference), flopsPerStep(*module),
                     sentBytesPerStep(*module)};
  if (hostMay)
    plan.hostLeft = hostMay->share() - plan.memory.host.total();
  return plan;
}

FailureOr<MemoryReport> Candidates::memoryWithoutBatches(const TriedSettings &tried) const {
  OwningOpRef<ModuleOp> module = scheduled(without(tried, isOfOffload));
  if (!module)
    return failure();
  const Strategy strategy = settle(*module, tried, strategy_);
  for (auto entry : module->getOps<train::EntryOp>()) {
    Block &body = entry.getBody().front();
    if (changing_.contains(entry.getSymName()) || !body.getOps<train::InputOp>().empty())
      while (!body.empty())
        body.back().erase();
  }
  const auto addPlan = [&](PassManager &manager) {
    addOffloadPasses(manager, strategy);
    addMemoryPasses(manager, strategy);
  };
  if (failed(run(*module, addPlan)))
    return failure();
  return memoryReport(*module);
}

LogicalResult planEach(MLIRContext *context, size_t count, bool firstAlone,
                       llvm::function_ref<LogicalResult(size_t)> plan) {
  context->loadAllAvailableDialects(); // threads must not load dialects at the same time
  const size_t alone = firstAlone && count > 0 ? 1 : 0;
  if (alone > 0 && failed(plan(0)))
    return failure();
  return failableParallelForEachN(context, alone, count, plan);
}

} // namespace trainc
