#include "lib/Pipelines/CheckpointBudget.h"

#include "base/units.h"
#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/CheckpointLevels.h"
#include "lib/Pipelines/Choices.h"
#include "lib/Pipelines/MemoryLimit.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace trainc {

/// Returns the option that offloads all kinds with bytes in `memory`; empty if they are offloaded already, or
/// offloading was given.
static std::string offloadOfAll(train::ProgramOp program, const BytesByKind &memory) {
  const StringRef given = train::kOffload.textIn(program).value_or("");
  const train::OffloadSettings offload = train::offloadOf(program);
  SmallVector<StringRef> words;
  if (offload.any())
    given.split(words, ',');
  const size_t already = words.size();
  for (const OffloadKind &kind : kOffloadKinds)
    if (memory.*kind.bytes > 0 && !llvm::is_contained(words, kind.word))
      words.push_back(kind.word);
  if (memory.activations > 0 && !offload.activations)
    words.push_back("activations");
  return given == "none" || words.size() == already ? "" : "--offload=" + llvm::join(words, ",");
}

LogicalResult checkBudget(ModuleOp module, const Planning &planning) {
  if (planning.fits)
    return success();
  const CandidatePlan &least = planning.tried.front().plan;
  const int64_t limit = planning.limit;
  train::ProgramOp program = *module.getOps<train::ProgramOp>().begin();
  if (least.hostLeft < 0)
    return program.emitError() << "activation_checkpointing budget: each plan needs at least "
                               << hostShortage(least.memory, *hostLimitOf(program));
  const std::string offload = limit > least.memory.unplanned ? offloadOfAll(program, least.memory) : "";
  return program.emitError() << "activation_checkpointing budget: no plan fits into the memory limit of "
                             << formatBytes(uint64_t(limit)) << " (" << limit
                             << " bytes); the minimum limit is " << least.bytes() << " bytes ("
                             << formatBytes(uint64_t(least.bytes())) << ", of which "
                             << formatBytes(uint64_t(least.memory.unplanned))
                             << " are not part of the plan): " << bytesByKind(least.memory)
                             << "; allow that much"
                             << (offload.empty() ? "" : ", offload more (" + offload + ")")
                             << ", or make the micro-batch or the model smaller";
}

namespace {

/// Plans of candidates, each made once.
class BudgetSearch {
public:
  BudgetSearch(ModuleOp module, const Strategy &strategy, int64_t limit)
      : module_(module), step_(module.clone(), strategy), limit_(limit) {}

  LogicalResult planCoarse();
  LogicalResult planFine();
  /// Chooses among planned candidates.
  void choose(Planning &planning);

private:
  LogicalResult
  plan(ArrayRef<TriedSettings> levels); ///< plans those that have not been planned, on several threads
  LogicalResult planBetween(const TriedSettings &coarse, ArrayRef<TriedSettings> levels, int64_t least);
  const PlannedStrategy *find(const TriedSettings &settings) const; ///< null if it is not planned
  const PlannedStrategy *smallestOf(const CheckpointLevels &levels) const;
  bool fits(const TriedSettings &settings) const { return find(settings)->plan.fits(limit_); }

  ModuleOp module_;
  Candidates step_;
  int64_t limit_;
  std::vector<PlannedStrategy> planned_;
};

} // namespace

const PlannedStrategy *BudgetSearch::find(const TriedSettings &settings) const {
  const std::string options = asOptions(settings);
  const auto found = llvm::find_if(
      planned_, [&](const PlannedStrategy &each) { return asOptions(each.decided) == options; });
  return found == planned_.end() ? nullptr : &*found;
}

LogicalResult BudgetSearch::plan(ArrayRef<TriedSettings> levels) {
  CheckpointLevels candidates;
  llvm::copy_if(levels, std::back_inserter(candidates),
                [&](const TriedSettings &each) { return !find(each); });
  std::vector<std::optional<CandidatePlan>> made(candidates.size());
  const auto planOne = [&](size_t i) -> LogicalResult {
    FailureOr<CandidatePlan> plan = step_.plan(candidates[i]);
    if (succeeded(plan))
      made[i] = *plan;
    return plan;
  };
  if (failed(planEach(module_.getContext(), candidates.size(), /*firstAlone=*/planned_.empty(), planOne)))
    return failure();
  for (auto [settings, plan] : llvm::zip_equal(candidates, made))
    planned_.push_back({settings, *plan});
  return success();
}

LogicalResult BudgetSearch::planCoarse() {
  for (const CheckpointLevels &levels : checkpointCandidates(module_, kCoarseParts))
    if (failed(plan(levels)))
      return failure();
  return success();
}

/// Returns the coarse level with the fewest bytes.
const PlannedStrategy *BudgetSearch::smallestOf(const CheckpointLevels &levels) const {
  const PlannedStrategy *smallest = nullptr;
  for (const TriedSettings &level : levels)
    if (const PlannedStrategy *each = find(level);
        each && (!smallest || each->plan.isSmaller(smallest->plan)))
      smallest = each;
  return smallest;
}

/// After each coarse level that does not fit, if the next one does, plans finer levels with less
/// recomputation than that one. Finer levels next to the smallest coarse level may be smaller than it.
///
/// A smaller limit never gets a faster plan: each finer level that it may choose is also planned for the
/// larger limit, or the larger limit chooses the coarse level before it, which is as fast. Nor does a larger
/// limit get a smaller plan: finer levels that are smaller than the next coarse one count only next to the
/// smallest, and there at each limit that the preceding coarse level exceeds.
LogicalResult BudgetSearch::planFine() {
  for (const CheckpointLevels &levels : checkpointCandidates(module_, kFineParts)) {
    const std::string smallest = asOptions(smallestOf(levels)->decided);
    const auto isSmallest = [&](const TriedSettings &level) { return asOptions(level) == smallest; };
    std::optional<TriedSettings> before; // among the coarse levels
    CheckpointLevels between;
    for (const TriedSettings &level : levels) {
      if (!find(level)) {
        between.push_back(level);
        continue;
      }
      const bool isBesideSmallest = isSmallest(level) || (before && isSmallest(*before));
      if (before && !fits(*before) && (fits(level) || isBesideSmallest) &&
          failed(planBetween(*before, between, isBesideSmallest ? 0 : find(level)->plan.bytes())))
        return failure();
      before = level;
      between.clear();
    }
  }
  return success();
}

/// Plans levels after a coarse one. Levels that are faster than it, or take fewer bytes than `least`, are
/// dropped.
LogicalResult BudgetSearch::planBetween(const TriedSettings &coarse, ArrayRef<TriedSettings> levels,
                                        int64_t least) {
  const size_t first = planned_.size();
  const double seconds = find(coarse)->plan.step.total;
  if (failed(plan(levels)))
    return failure();
  const auto mayNotBe = [&](const PlannedStrategy &each) {
    return each.plan.step.total < seconds || each.plan.bytes() < least;
  };
  planned_.erase(std::remove_if(planned_.begin() + ptrdiff_t(first), planned_.end(), mayNotBe),
                 planned_.end());
  return success();
}

void BudgetSearch::choose(Planning &planning) {
  const PlannedStrategy *least = &planned_.front(), *best = nullptr;
  for (const PlannedStrategy &each : planned_) {
    if (each.plan.isSmaller(least->plan))
      least = &each;
    if (each.plan.fits(limit_) && (!best || each.plan.step.total < best->plan.step.total))
      best = &each;
  }
  planning.set(limit_, planned_, size_t((best ? best : least) - planned_.data()));
  if (best)
    for (auto program : module_.getOps<train::ProgramOp>())
      train::setDerived(program, best->decided, "memory_limit");
}

LogicalResult chooseCheckpoints(ModuleOp module, const Strategy &strategy, int64_t limit,
                                Planning &planning) {
  BudgetSearch search(module, strategy, limit);
  if (failed(search.planCoarse()) || failed(search.planFine()))
    return failure();
  search.choose(planning);
  return success();
}

} // namespace trainc
