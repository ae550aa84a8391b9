// `--activation-checkpointing=budget`: chooses recomputation for the memory limit.
#include "base/units.h"
#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/CheckpointLevels.h"
#include "lib/Pipelines/PhaseEvaluator.h"
#include "lib/Pipelines/Queries.h"
#include "lib/Pipelines/Settings.h"
#include "lib/Planner/Space.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace trainc {

namespace {

/// Levels that a budget chooses among: all coarse ones, and finer ones around those that just fit.
class BudgetSearch {
public:
  BudgetSearch(Evaluations &evaluations, int64_t limit) : evaluations_(evaluations), limit_(limit) {}

  LogicalResult addCoarse(const CheckpointLevels &levels) {
    return add(levels, [](const Evaluation &) { return true; });
  }
  LogicalResult addFine(const CheckpointLevels &levels);
  /// Sets the candidates and returns whether one fits.
  bool choose(Planning &planning) const;

private:
  LogicalResult add(ArrayRef<Settings> levels, llvm::function_ref<bool(const Evaluation &)> isCandidate);
  const Evaluation *find(const Settings &level) const; ///< null if the level is no candidate
  const Settings *smallestOf(const CheckpointLevels &levels) const;

  Evaluations &evaluations_;
  int64_t limit_;
  std::vector<EvaluatedStrategy> candidates_; ///< in the order of evaluation
};

} // namespace

const Evaluation *BudgetSearch::find(const Settings &level) const {
  const auto found = llvm::find_if(candidates_, [&](const auto &each) { return each.decided == level; });
  return found == candidates_.end() ? nullptr : &found->plan;
}

/// Evaluates levels that are no candidates, and adds those that may be.
LogicalResult BudgetSearch::add(ArrayRef<Settings> levels,
                                llvm::function_ref<bool(const Evaluation &)> isCandidate) {
  CheckpointLevels others;
  llvm::copy_if(levels, std::back_inserter(others), [&](const Settings &each) { return !find(each); });
  const FailureOr<std::vector<size_t>> numbers = evaluations_.add(others);
  if (failed(numbers))
    return failure();
  for (const size_t number : *numbers)
    if (isCandidate(evaluations_[number]))
      candidates_.push_back(evaluations_.all()[number]);
  return success();
}

/// Returns the coarse level with the fewest bytes.
const Settings *BudgetSearch::smallestOf(const CheckpointLevels &levels) const {
  std::vector<EvaluatedStrategy> coarse;
  for (const Settings &level : levels)
    if (const Evaluation *plan = find(level))
      coarse.push_back({level, *plan});
  return coarse.empty() ? nullptr : &*llvm::find(levels, coarse[smallest(coarse)].decided);
}

/// After each coarse level that does not fit, if the next one does, evaluates finer levels with less
/// recomputation than that one. Finer levels next to the smallest coarse level may be smaller than it. Levels
/// that are faster than the coarse level before them, or else smaller than the next one, are no candidates.
///
/// A smaller limit never gets a faster plan: each finer level that it may choose is also evaluated for the
/// larger limit, or the larger limit chooses the coarse level before it, which is as fast. Nor does a larger
/// limit get a smaller plan: finer levels that are smaller than the next coarse one count only next to the
/// smallest, and there at each limit that the preceding coarse level exceeds.
LogicalResult BudgetSearch::addFine(const CheckpointLevels &levels) {
  const Settings *smallest = smallestOf(levels), *before = nullptr; // among the coarse levels
  CheckpointLevels between;
  for (const Settings &level : levels) {
    const Evaluation *next = find(level);
    if (!next) {
      between.push_back(level);
      continue;
    }
    const bool isBesideSmallest = &level == smallest || (before && before == smallest);
    if (before && !find(*before)->fits(limit_) && (next->fits(limit_) || isBesideSmallest)) {
      const double minSeconds = find(*before)->seconds();
      const int64_t minBytes = isBesideSmallest ? 0 : next->bytes();
      if (failed(add(between, [&](const Evaluation &plan) {
            return plan.seconds() >= minSeconds && plan.bytes() >= minBytes;
          })))
        return failure();
    }
    before = &level;
    between.clear();
  }
  return success();
}

bool BudgetSearch::choose(Planning &planning) const {
  const std::optional<size_t> best = fastest(candidates_, limit_);
  planning.set(limit_, candidates_, best.value_or(smallest(candidates_)));
  return best.has_value();
}

LogicalResult chooseCheckpoints(ModuleOp module, const PassConditions &conditions, int64_t limit,
                                Planning &planning) {
  PhaseEvaluator evaluator(module, conditions);
  Evaluations evaluations(evaluator);
  BudgetSearch search(evaluations, limit);
  for (const CheckpointLevels &levels : checkpointCandidates(module, kCoarseParts))
    if (failed(search.addCoarse(levels)))
      return failure();
  for (const CheckpointLevels &levels : checkpointCandidates(module, kFineParts))
    if (failed(search.addFine(levels)))
      return failure();
  if (search.choose(planning))
    for (auto program : module.getOps<train::ProgramOp>())
      train::setDerived(program, planning.strategies.front().decided, "memory_limit");
  return success();
}

// --- The error if no level fits ---

/// Returns the option that offloads all kinds with bytes in `memory`; empty if they are offloaded already, or
/// offloading was given.
static std::string offloadOfAll(train::ProgramOp program, const BytesByKind &memory) {
  const StringRef given = train::kOffload.textIn(program).value_or("");
  const train::OffloadSettings offload = train::offloadOf(program);
  SmallVector<StringRef> words;
  if (offload.any())
    given.split(words, ',');
  const size_t already = words.size();
  for (const OffloadKind &kind : kOffloadStates)
    if (const StringRef word = train::kOffload.wordFor(kind.kind);
        memory.*kind.bytes > 0 && !llvm::is_contained(words, word))
      words.push_back(word);
  if (memory.activations > 0 && !offload.activations)
    words.push_back(train::kOffload.wordFor(train::Offloaded::activations));
  const bool isRefused = train::kOffload.isSet(program) && !offload.any();
  return isRefused || words.size() == already ? "" : "--offload=" + llvm::join(words, ",");
}

LogicalResult checkBudget(ModuleOp module, const Planning &planning) {
  if (planning.fits)
    return success();
  const Evaluation &smallest = planning.strategies.front().plan;
  const int64_t limit = planning.limit;
  train::ProgramOp program = *module.getOps<train::ProgramOp>().begin();
  if (smallest.hostLeft < 0)
    return program.emitError() << "activation_checkpointing budget: each plan needs at least "
                               << hostShortage(smallest.memory, *hostLimitOf(program));
  const std::string offload = limit > smallest.memory.unplanned ? offloadOfAll(program, smallest.memory) : "";
  return program.emitError() << "activation_checkpointing budget: no plan fits into the memory limit of "
                             << formatBytes(uint64_t(limit)) << " (" << limit
                             << " bytes); the minimum limit is " << smallest.bytes() << " bytes ("
                             << formatNeededBytes(uint64_t(smallest.bytes())) << ", of which "
                             << formatBytes(uint64_t(smallest.memory.unplanned))
                             << " are not part of the plan): " << bytesByKind(smallest.memory)
                             << "; allow that much"
                             << (offload.empty() ? "" : ", offload more (" + offload + ")")
                             << ", or make the micro-batch or the model smaller";
}

} // namespace trainc
