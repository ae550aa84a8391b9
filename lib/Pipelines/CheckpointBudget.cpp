#include "lib/Pipelines/CheckpointBudget.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/Choices.h"
#include "lib/Pipelines/MemoryLimit.h"
#include "lib/Pipelines/Unsharding.h"
#include "lib/Remat/BlockUses.h"
#include "runtime/base/units.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace trainc {

/// Shares of their bytes that uses of blocks keep, one after the other, in percent.
static constexpr int64_t kLeastShare = 15, kShares[] = {60, 30, kLeastShare, 0};

static int64_t usesOf(ModuleOp step) {
  for (auto program : step.getOps<train::ProgramOp>()) {
    const train::CheckpointSettings settings = train::checkpointsOf(program);
    return countUses(step, {.blocks = settings.blocks, .every = settings.every});
  }
  return 0;
}

static TriedSettings keeping(const std::string &keep, StringRef rest) {
  return {{"checkpoint_keep", keep}, {"checkpoint_rest", rest.str()}};
}

/// So many uses, one after the other, keep a share.
using UsesAndShare = std::pair<int64_t, int64_t>;

/// What uses keep, shares that rise; the last one is that of all others: {4, 0}, {2, 15}, {1, 100} is
/// "4x0,2x15,100", and {4, 0}, {1, 0} is "0".
static std::string sharesOf(ArrayRef<UsesAndShare> parts) {
  int64_t rest = 0;
  for (const auto &[uses, share] : parts)
    rest = uses > 0 ? share : rest;
  std::string text;
  for (const auto &[uses, share] : parts)
    if (uses > 0 && share != rest)
      text += (uses > 1 ? std::to_string(uses) + "x" : "") + std::to_string(share) + ",";
  return text + std::to_string(rest);
}

/// The ends of levels, if all uses before keep nothing: what the last one keeps, and the last two. To make a
/// use's values again takes memory, too. So if two keep a little, that may take the least.
static CheckpointLevels lastLevels(int64_t uses, bool isFine) {
  CheckpointLevels levels;
  for (const int64_t share : kShares) {
    if (uses > 1 && share > 0 && (isFine || share == kLeastShare))
      levels.push_back(keeping(sharesOf({{uses - 2, 0}, {2, share}}), "selective"));
    if (isFine || share == 0 || uses == 1)
      levels.push_back(keeping(sharesOf({{uses - 1, 0}, {1, share}}), "selective"));
  }
  return levels;
}

/// Levels in which the first `uses` keep less and less, and the `others` behind them all.
static CheckpointLevels levelsOf(int64_t uses, int64_t others, int64_t parts) {
  CheckpointLevels levels = {keeping("100", "none"), keeping("100", "selective")};
  int64_t before = 100;
  for (const int64_t share : kShares) {
    int64_t last = 0;
    for (int64_t part = 1; part <= parts; ++part)
      if (const int64_t count = uses * part / parts; count > last) {
        levels.push_back(
            keeping(sharesOf({{count, share}, {uses - count, before}, {others, 100}}), "selective"));
        last = count;
      }
    before = share;
  }
  return levels;
}

CheckpointLevels checkpointLevels(ModuleOp step, int64_t parts) {
  const int64_t uses = usesOf(step);
  CheckpointLevels levels = levelsOf(std::max<int64_t>(uses - 1, 0), 1, parts);
  if (uses > 0)
    llvm::append_range(levels, lastLevels(uses, parts > kCoarseParts));
  return levels;
}

std::vector<CheckpointLevels> checkpointCandidates(ModuleOp step, int64_t parts) {
  std::vector<CheckpointLevels> candidates = {checkpointLevels(step, parts)};
  if (isOpen(step, {"max_reuse_distance", "reshard_after_forward"})) {
    candidates.push_back(candidates.front());
    for (TriedSettings &settings : candidates.back())
      settings.push_back({"reshard_after_forward", "false"});
  }
  if (isOpen(step, {"prefetch"})) {
    // What takes the least gathers nothing ahead.
    candidates.push_back(lastLevels(usesOf(step), /*isFine=*/false));
    for (TriedSettings &settings : candidates.back())
      settings.push_back({"prefetch", "0"});
  }
  // If memory is the fullest at the loss, the last use may take the most of all.
  candidates.push_back(levelsOf(usesOf(step), 0, parts));
  return candidates;
}

/// The option with which all that takes bytes of `memory` goes outside; none if it does, or is not to.
static std::string offloadOfAll(train::ProgramOp program, const BytesByKind &memory) {
  const StringRef given = program.getOffload().value_or("");
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
                             << " bytes); the smallest limit that one fits into is " << least.bytes()
                             << " bytes (" << formatBytes(uint64_t(least.bytes())) << ", of which "
                             << formatBytes(uint64_t(least.memory.unplanned))
                             << " lie outside the plan): " << bytesByKind(least.memory) << "; allow so much"
                             << (offload.empty() ? "" : ", keep more outside of memory (" + offload + ")")
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
  /// Chooses among those that are planned.
  void choose(Planning &planning);

private:
  LogicalResult plan(ArrayRef<TriedSettings> candidates); ///< by several threads
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

LogicalResult BudgetSearch::plan(ArrayRef<TriedSettings> candidates) {
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
  for (const CheckpointLevels &levels : checkpointCandidates(module_, kCoarseParts)) {
    CheckpointLevels others;
    llvm::copy_if(levels, std::back_inserter(others), [&](const TriedSettings &each) { return !find(each); });
    if (failed(plan(others)))
      return failure();
  }
  return success();
}

/// The coarse level of the least bytes.
const PlannedStrategy *BudgetSearch::smallestOf(const CheckpointLevels &levels) const {
  const PlannedStrategy *smallest = nullptr;
  for (const TriedSettings &level : levels)
    if (const PlannedStrategy *each = find(level);
        each && (!smallest || each->plan.isSmaller(smallest->plan)))
      smallest = each;
  return smallest;
}

/// Behind each coarse level that does not fit, if the next one does, finer levels compute less again than
/// that. Those beside the smallest coarse level may be smaller than it.
///
/// A smaller limit never takes a faster plan: each finer one that it may take is planned for the larger limit
/// as well, or that takes the coarse one before it, which is as fast. Nor does a larger limit take a smaller
/// plan: finer ones that are smaller than the next coarse one count beside the smallest alone, and there at
/// each limit that the coarse one before them exceeds.
LogicalResult BudgetSearch::planFine() {
  for (const CheckpointLevels &levels : checkpointCandidates(module_, kFineParts)) {
    const std::string smallest = asOptions(smallestOf(levels)->decided);
    const auto isSmallest = [&](const TriedSettings &level) { return asOptions(level) == smallest; };
    std::optional<TriedSettings> before; // of the coarse ones
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

/// Plans levels behind a coarse one. None may be faster than that, nor take fewer bytes than `least`.
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
