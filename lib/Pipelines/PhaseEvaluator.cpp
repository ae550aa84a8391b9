#include "lib/Pipelines/PhaseEvaluator.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Codegen/Target.h"
#include "lib/Pipelines/Report.h"
#include "lib/Pipelines/Settings.h"
#include "lib/Plan/EmittedPlan.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringSet.h"

#include <mutex>

using namespace mlir;

namespace trainc {

// --- Running passes ---

/// Runs passes without the verifier of IR. The chosen plan is verified when it is compiled, after each pass
/// and phase.
static LogicalResult run(ModuleOp module, llvm::function_ref<void(PassManager &)> addPasses) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  addPasses(manager);
  return manager.run(module);
}

/// Calls `function` with each number below `count` on several threads. If `firstAlone`, calls function(0)
/// before the others start. Fails if a call does; errors are reported in the order of numbers.
static LogicalResult forEach(MLIRContext *context, size_t count, bool firstAlone,
                             llvm::function_ref<LogicalResult(size_t)> function) {
  context->loadAllAvailableDialects(); // threads must not load dialects at the same time
  const size_t alone = firstAlone && count > 0 ? 1 : 0;
  if (alone > 0 && failed(function(0)))
    return failure();
  return failableParallelForEachN(context, alone, count, function);
}

static Settings earlyOf(const Settings &settings) {
  return only(settings, [](const train::GivenSetting &each) { return !isLate(each); });
}

/// Whether activation checkpointing may change the entry: it has a backward, or uses of blocks.
static bool mayBeRecomputed(train::EntryOp entry) {
  return entry.getKind() == EntryKind::micro_step || entry.getKind() == EntryKind::last_micro_step ||
         !entry.getBody().getOps<train::BlockUseOp>().empty();
}

static train::ProgramOp programOf(ModuleOp module) { return *module.getOps<train::ProgramOp>().begin(); }

namespace {

/// Cache of modules by settings. Thread-safe. Callers get copies.
class ModuleCache {
public:
  /// Returns null if there is none.
  OwningOpRef<ModuleOp> find(const Settings &settings) {
    ModuleOp known; // cached modules are never erased
    {
      const std::lock_guard lock(mutex_);
      auto found = modules_.find(settings);
      known = found == modules_.end() ? ModuleOp() : *found->second;
    }
    return known ? known.clone() : OwningOpRef<ModuleOp>();
  }
  /// Adds the module unless another thread has done so.
  OwningOpRef<ModuleOp> keep(const Settings &settings, OwningOpRef<ModuleOp> module) {
    OwningOpRef<ModuleOp> copy = module->clone();
    const std::lock_guard lock(mutex_);
    modules_.try_emplace(settings, std::move(module));
    return copy;
  }

private:
  std::mutex mutex_;
  std::map<Settings, OwningOpRef<ModuleOp>> modules_;
};

} // namespace

// --- A step, and strategies with it ---

/// A program in the phase `step`, before activation checkpointing, and cached later phases.
class PhaseEvaluator::Step {
public:
  Step(OwningOpRef<ModuleOp> module, PassConditions conditions, bool cachesSchedules)
      : module_(std::move(module)), conditions_(std::move(conditions)), cachesSchedules_(cachesSchedules) {
    conditions_.verifiesPhases = false;
    for (auto entry : module_->getOps<train::EntryOp>())
      if (mayBeRecomputed(entry))
        changing_.insert(entry.getSymName());
  }

  ModuleOp module() { return *module_; }

  /// Thread-safe.
  FailureOr<Evaluation> evaluate(const Settings &late);
  FailureOr<int64_t> lowerBoundBytes(const Settings &late);

private:
  OwningOpRef<ModuleOp> scheduled(const Settings &settings);
  LogicalResult schedule(ModuleOp module, const Settings &settings);
  void moveUnchanging(ModuleOp from, ModuleOp to) const;

  OwningOpRef<ModuleOp> module_;
  PassConditions conditions_;
  bool cachesSchedules_;
  llvm::StringSet<> changing_;         ///< entries that activation checkpointing changes
  ModuleCache unchanging_, scheduled_; ///< scheduled entries that it does not change, and whole programs
};

void PhaseEvaluator::Step::moveUnchanging(ModuleOp from, ModuleOp to) const {
  for (auto entry : llvm::make_early_inc_range(from.getOps<train::EntryOp>()))
    if (!changing_.contains(entry.getSymName()))
      entry->moveBefore(to.getBody(), to.getBody()->end());
}

/// From the phase `spmd` on, entries are independent until tensors are offloaded or addresses are assigned.
/// Entries that activation checkpointing does not change are scheduled once and cached. Threads that miss the
/// cache at the same time may each schedule them.
LogicalResult PhaseEvaluator::Step::schedule(ModuleOp module, const Settings &settings) {
  const Settings shared =
      only(settings, [](const train::GivenSetting &each) { return !isOfCheckpoints(each); });
  OwningOpRef<ModuleOp> others = unchanging_.find(shared);
  const OwningOpRef<ModuleOp> unscheduled = ModuleOp::create(module.getLoc());
  if (others)
    moveUnchanging(module, *unscheduled);
  if (failed(run(module, [&](PassManager &manager) { addScheduledPasses(manager, conditions_); })))
    return failure();
  if (!others) {
    OwningOpRef<ModuleOp> made = ModuleOp::create(module.getLoc());
    moveUnchanging(module, *made);
    others = unchanging_.keep(shared, std::move(made));
  }
  moveUnchanging(*others, module);
  return success();
}

/// Returns the program with these settings in the phase `scheduled`, before offloading; null on failure. A
/// cached program is made once, or once by each thread that does not find it.
OwningOpRef<ModuleOp> PhaseEvaluator::Step::scheduled(const Settings &settings) {
  if (OwningOpRef<ModuleOp> known = cachesSchedules_ ? scheduled_.find(settings) : nullptr)
    return known;
  OwningOpRef<ModuleOp> module = module_->clone();
  train::setDerived(programOf(*module), settings, "planner");
  const train::CheckpointSettings checkpoints = train::checkpointsOf(programOf(*module));
  const auto addSpmd = [&](PassManager &manager) {
    addRecomputePasses(manager, checkpoints, conditions_);
    addShardPasses(manager, conditions_);
    addSpmdPasses(manager, conditions_);
  };
  if (failed(run(*module, addSpmd)) || failed(schedule(*module, settings)))
    return {};
  return cachesSchedules_ ? scheduled_.keep(settings, std::move(module)) : std::move(module);
}

static Settings withoutOffload(const Settings &settings) {
  return only(settings, [](const train::GivenSetting &each) { return !isOfOffload(each); });
}

/// Writes settings into a module's program, and returns the conditions with them, because offloading may be
/// among them.
static PassConditions applyLate(ModuleOp module, const Settings &settings, PassConditions conditions) {
  train::setDerived(programOf(module), settings, "planner");
  conditions.offloads = train::offloadOf(programOf(module)).any();
  return conditions;
}

FailureOr<Evaluation> PhaseEvaluator::Step::evaluate(const Settings &late) {
  OwningOpRef<ModuleOp> module = scheduled(withoutOffload(late));
  if (!module)
    return failure();
  const PassConditions conditions = applyLate(*module, late, conditions_);
  train::ProgramOp program = programOf(*module);
  const Machine reference = codegen::Target::chosenFor(*module)->referenceMachine(train::kRanks.of(program));
  const std::optional<HostLimit> host = hostLimitOf(program);
  const auto addPlan = [&](PassManager &manager) {
    addOffloadPasses(manager, conditions);
    addMemoryPasses(manager, conditions);
    addStreamPasses(manager, conditions);
  };
  if (failed(run(*module, addPlan)))
    return failure();
  Evaluation plan = evaluationOf(*module, reference);
  if (host)
    plan.hostLeft = host->share() - plan.memory.host.total();
  return plan;
}

/// Returns the memory of the plan if entries that read batches had no ops, less a share of scratch for gaps
/// between buffers.
FailureOr<int64_t> PhaseEvaluator::Step::lowerBoundBytes(const Settings &late) {
  constexpr int64_t kGapDivisor = 8; // up to 1/8 of scratch may be gaps
  OwningOpRef<ModuleOp> module = scheduled(withoutOffload(late));
  if (!module)
    return failure();
  const PassConditions conditions = applyLate(*module, late, conditions_);
  for (auto entry : module->getOps<train::EntryOp>()) {
    Block &body = entry.getBody().front();
    if (changing_.contains(entry.getSymName()) || !body.getOps<train::InputOp>().empty())
      while (!body.empty())
        body.back().erase();
  }
  const auto addPlan = [&](PassManager &manager) {
    addOffloadPasses(manager, conditions);
    addMemoryPasses(manager, conditions);
  };
  if (failed(run(*module, addPlan)))
    return failure();
  const MemoryReport memory = memoryReport(*module, *EmittedPlan(*module));
  return memory.needed() - memory.activations / kGapDivisor;
}

// --- The evaluator ---

PhaseEvaluator::PhaseEvaluator(ModuleOp model, const CompileOptions &options, bool cachesSchedules)
    : onlyErrors_(model.getContext()), model_(model), options_(options), cachesSchedules_(cachesSchedules) {}

PhaseEvaluator::PhaseEvaluator(ModuleOp step, const PassConditions &conditions)
    : onlyErrors_(step.getContext()), model_(step), cachesSchedules_(false) {
  steps_[{}] = std::make_unique<Step>(step.clone(), conditions, cachesSchedules_);
}

PhaseEvaluator::~PhaseEvaluator() = default;

FailureOr<std::unique_ptr<PhaseEvaluator::Step>> PhaseEvaluator::makeStep(const Settings &early) {
  OwningOpRef<ModuleOp> module = model_.clone();
  CompileOptions options = options_;
  options.settings = early;
  if (failed(applySettings(*module, options)))
    return failure();
  PassConditions conditions = passConditionsOf(*module, options);
  if (failed(run(*module, [&](PassManager &manager) { addStepPasses(manager, conditions); })))
    return failure();
  return std::make_unique<Step>(std::move(module), std::move(conditions), cachesSchedules_);
}

/// Creates the steps of the strategies that do not exist yet.
LogicalResult PhaseEvaluator::makeSteps(ArrayRef<Settings> strategies) {
  std::vector<Settings> missing;
  for (const Settings &strategy : strategies)
    if (Settings early = earlyOf(strategy); steps_.count(early) == 0 && !llvm::is_contained(missing, early))
      missing.push_back(std::move(early));
  std::vector<std::unique_ptr<Step>> made(missing.size());
  const auto makeOne = [&](size_t i) -> LogicalResult {
    FailureOr<std::unique_ptr<Step>> step = makeStep(missing[i]);
    if (succeeded(step))
      made[i] = std::move(*step);
    return step;
  };
  if (failed(forEach(model_.getContext(), missing.size(), /*firstAlone=*/steps_.empty(), makeOne)))
    return failure();
  for (auto [early, step] : llvm::zip_equal(missing, made))
    steps_[early] = std::move(step);
  return success();
}

FailureOr<ModuleOp> PhaseEvaluator::step(const Settings &strategy) {
  if (failed(makeSteps(strategy)))
    return failure();
  return steps_.at(earlyOf(strategy))->module();
}

FailureOr<std::vector<Evaluation>> PhaseEvaluator::evaluate(ArrayRef<Settings> strategies) {
  if (failed(makeSteps(strategies)))
    return failure();
  std::vector<Evaluation> made(strategies.size());
  const auto evaluateOne = [&](size_t i) -> LogicalResult {
    FailureOr<Evaluation> plan = steps_.at(earlyOf(strategies[i]))->evaluate(only(strategies[i], isLate));
    if (succeeded(plan))
      made[i] = *plan;
    return plan;
  };
  const bool firstAlone = std::exchange(isFirst_, false);
  if (failed(forEach(model_.getContext(), strategies.size(), firstAlone, evaluateOne)))
    return failure();
  return made;
}

FailureOr<int64_t> PhaseEvaluator::lowerBoundBytes(const Settings &strategy) {
  if (failed(makeSteps(strategy)))
    return failure();
  return steps_.at(earlyOf(strategy))->lowerBoundBytes(only(strategy, isLate));
}

} // namespace trainc
