// `--memory-limit` and `trainc estimate`.
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/CheckpointLevels.h"
#include "lib/Pipelines/PhaseEvaluator.h"
#include "lib/Pipelines/Queries.h"
#include "lib/Pipelines/SearchSpace.h"
#include "lib/Pipelines/Settings.h"
#include "lib/Planner/Search.h"

using namespace mlir;

namespace trainc {

/// Adds the levels of recomputation to the space. Removes smaller micro-batches if the loss combines the
/// samples of one.
static LogicalResult completeSpace(train::ProgramOp program, PhaseEvaluator &evaluator, SearchSpace &space) {
  std::vector<Settings> blocks(1);
  if (mayRecompute(program) || space.size(kMicroBatches) > 1) {
    FailureOr<ModuleOp> step = evaluator.step(space.settingsOf(Strategy()));
    if (failed(step))
      return failure();
    if ((*step->getOps<train::ProgramOp>().begin()).getCombinedSamples())
      space.values[kMicroBatches].resize(1);
    if (mayRecompute(program))
      blocks = checkpointLevels(*step);
  }
  addLevels(program, blocks, space);
  return success();
}

/// Returns the number of elements of all parameters that can be sharded.
static int64_t flatElements(ModuleOp step) {
  int64_t elements = 0;
  for (auto state : step.getOps<train::StateOp>())
    if (state.getRole() == train::StateRole::parameter && state.getMembersAttr())
      for (auto member : state.getMembersAttr().getAsRange<train::MemberAttr>())
        elements += cast<RankedTensorType>(member.getType()).getNumElements();
  return elements;
}

/// Keeps gathered parameters of the best strategy from forward to backward, as far as they fit and the step
/// does not become slower: the less is gathered again, the less is sent. `number` is that of the best
/// strategy. Returns the number of the strategy that does so.
static FailureOr<size_t> keepGathered(size_t number, PhaseEvaluator &evaluator, Evaluations &evaluations,
                                      int64_t limit) {
  const Settings best = evaluations.all()[number].decided; // a copy, because evaluations are added
  FailureOr<ModuleOp> step = evaluator.step(best);
  if (failed(step))
    return failure();
  const bool gathersNothingAhead =
      llvm::any_of(best, [](const train::GivenSetting &each) { return each.word == train::kPrefetch.name; });
  if (!mayKeepGathered(*step) || gathersNothingAhead)
    return number;
  // Between a unit's forward and its backward, each other unit is read at most twice.
  const int64_t all = 2 * flatElements(*step) + 1;
  for (const std::pair<int64_t, int64_t> distances : {std::pair(all / 8, all / 4), std::pair(all / 2, all)}) {
    const FailureOr<std::vector<size_t>> kept =
        evaluations.add(combine({best}, {train::kMaxReuseDistance.as(distances.first),
                                         train::kMaxReuseDistance.as(distances.second)}));
    if (failed(kept))
      return failure();
    for (const size_t each : *kept)
      if (evaluations[each].fits(limit) && evaluations[each].seconds() <= evaluations[number].seconds())
        number = each;
    if (!evaluations[kept->back()].fits(limit))
      break;
  }
  return number;
}

/// Returns the minimum host bytes per rank with which a plan would fit; 0 if none would.
static int64_t hostThatFits(const Evaluations &evaluations, int64_t limit) {
  int64_t minBytes = 0;
  for (const auto &[decided, plan] : evaluations.all())
    if (const int64_t host = plan.memory.host.total();
        plan.bytes() <= limit && (minBytes == 0 || host < minBytes))
      minBytes = host;
  return minBytes;
}

FailureOr<Planning> decideWhatFits(ModuleOp model, const CompileOptions &options, int64_t limit) {
  train::ProgramOp program = *model.getOps<train::ProgramOp>().begin();
  Planning planning;
  if (train::hasBudget(program))
    return planning;
  PhaseEvaluator evaluator(model, options, /*cachesSchedules=*/true);
  Evaluations evaluations(evaluator);
  SearchSpace space = spaceOf(program);
  if (failed(completeSpace(program, evaluator, space)))
    return failure();
  if (!space.hasChoice() && !mayKeepGathered(model))
    return planning;
  Search search(space, evaluations, limit);
  if (failed(search.findFastest()) || (!search.best() && failed(search.findSmallest())))
    return failure();
  size_t chosen = 0;
  if (const std::optional<size_t> best = search.best()) {
    const FailureOr<size_t> kept = keepGathered(*best, evaluator, evaluations, limit);
    if (failed(kept))
      return failure();
    chosen = *kept;
  } else {
    chosen = evaluations.smallest();
    if (const std::optional<HostLimit> host = hostLimitOf(program))
      planning.hostThatFits = host->ranks * hostThatFits(evaluations, limit);
  }
  planning.set(limit, evaluations.all(), chosen);
  // If it does not fit, checkMemory() reports the error with advice when the step is built.
  train::setDerived(program, planning.strategies.front().decided, "memory_limit");
  return planning;
}

/// Modules without a program are rejected by the first pass.
FailureOr<StrategyComparison> estimateStrategies(ModuleOp model, const CompileOptions &options) {
  std::vector<Settings> strategies(1);
  for (auto program : model.getOps<train::ProgramOp>()) {
    if (train::hasBudget(program))
      return program.emitError(
          "activation_checkpointing budget leaves nothing to compare: a memory limit decides what to "
          "recompute; give --activation-checkpointing=none, selective or full to estimate one of them, "
          "or leave activation_checkpointing out to compare all three; with budget, trainc compile "
          "--memory-limit=SIZE --report=FILE.json says what the plan takes");
    strategies = strategiesToCompare(program);
  }
  PhaseEvaluator evaluator(model, options, /*cachesSchedules=*/true);
  Evaluations evaluations(evaluator);
  if (failed(evaluations.add(strategies)))
    return failure();
  FailureOr<ModuleOp> step = evaluator.step(strategies.front());
  if (failed(step))
    return failure();
  StrategyComparison comparison{.strategies = evaluations.all(), .combinedSamples = {}};
  for (auto program : step->getOps<train::ProgramOp>())
    comparison.combinedSamples = program.getCombinedSamples().value_or("");
  return comparison;
}

} // namespace trainc
