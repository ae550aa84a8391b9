#include "lib/Pipelines/Planner.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/CheckpointBudget.h"
#include "lib/Pipelines/Choices.h"
#include "lib/Pipelines/Unsharding.h"

#include <map>
#include <set>

using namespace mlir;
using namespace trainc;

namespace {

/// What predictions of two plans may differ by, of a step, and count as equal.
constexpr double kAsFast = 1e-3;

/// Words that say what stays gathered.
const StringRef kReuseWords[] = {"max_reuse_distance", "reshard_after_forward"};

class Planner {
public:
  Planner(ModuleOp model, const CompileOptions &options, int64_t limit)
      : model_(model), options_(options), choices_(*model.getOps<train::ProgramOp>().begin()) {
    planning_.limit = limit;
  }

  /// Fails where the step cannot be made.
  LogicalResult findLevels();
  bool hasChoice() const { return choices_.any() || isOpen(model_, kReuseWords); }

  /// Fails where a plan cannot be made. `best()` is null afterwards if nothing fits.
  LogicalResult search();
  /// Of the best strategy: what is gathered for the forward stays for the backward, as far as it fits.
  LogicalResult keepGathered();
  /// The strategy of the least bytes: the smallest micro-batches, all computed again, and all offloaded.
  FailureOr<const PlannedStrategy *> planSmallest();

  std::optional<size_t> best() const { return best_; }
  Planning takePlanning() && {
    planning_.taken = *best_;
    return std::move(planning_);
  }

private:
  FailureOr<const Candidates *> step(Cell cell);
  FailureOr<size_t> plan(Cell cell, size_t level);
  FailureOr<size_t> planWith(Cell cell, const TriedSettings &behind);
  FailureOr<size_t> lastLevel(Cell cell);
  FailureOr<size_t> fastestLevel(Cell cell);
  FailureOr<bool> stepTo(Cell cell, size_t level, size_t &fastest);
  FailureOr<size_t> planFastest(Cell cell);
  LogicalResult open(Cell cell);
  LogicalResult recomputeUntilItFits(Cell cell);
  LogicalResult openDivisions();
  LogicalResult openBehind(Cell from, double least, Cell cell);
  LogicalResult openOffload(Cell cell, double least);
  LogicalResult openSplit(Cell cell, double least);
  FailureOr<bool> turnsOutToFit(Cell cell);
  LogicalResult visit(Cell cell, double least);

  const PlannedStrategy &tried(size_t index) const { return planning_.tried[index]; }
  int64_t heldBytes(Cell cell) const; ///< of states, which no recomputation makes fewer
  bool holdsTooMuch(Cell cell) const { return heldBytes(cell) > planning_.limit; }
  size_t firstPlanned(Cell cell) const { return planned_.lower_bound({cell, 0})->second; }
  const MemoryReport &memoryOf(Cell cell) const { return tried(firstPlanned(cell)).plan.memory; }
  bool somethingFits(Cell cell) const;
  bool fits(size_t index) const { return tried(index).plan.bytes() <= planning_.limit; }
  double seconds(size_t index) const { return tried(index).plan.step.total; }

  ModuleOp model_;
  const CompileOptions &options_;
  Planning planning_;
  Choices choices_;
  std::map<Cell, Candidates> steps_;
  std::map<std::pair<Cell, size_t>, size_t> planned_; ///< cell and level: which of those tried
  std::multimap<double, Cell> open_;                  ///< by the seconds that they take at least
  std::set<Cell> opened_;
  std::optional<size_t> best_;
};

} // namespace

// --- The search ---

/// Nothing is computed again, then what is cheap, and then more and more of blocks.
LogicalResult Planner::findLevels() {
  std::vector<TriedSettings> blocks(1);
  if (choices_.mayRecompute) {
    FailureOr<const Candidates *> first = step({});
    if (failed(first))
      return failure();
    blocks = checkpointLevels((*first)->step());
  }
  choices_.addLevels(blocks);
  return success();
}

FailureOr<const Candidates *> Planner::step(Cell cell) {
  auto known = steps_.find(cell);
  if (known == steps_.end()) {
    FailureOr<Candidates> made = makeStep(model_, options_, choices_.decided(cell));
    if (failed(made))
      return failure();
    known = steps_.emplace(cell, std::move(*made)).first;
  }
  return &known->second;
}

FailureOr<size_t> Planner::planWith(Cell cell, const TriedSettings &behind) {
  FailureOr<const Candidates *> made = step(cell);
  if (failed(made))
    return failure();
  FailureOr<CandidatePlan> planned = (*made)->plan(behind);
  if (failed(planned))
    return failure();
  const size_t index = planning_.tried.size();
  planning_.tried.push_back({choices_.decided(cell), *planned});
  llvm::append_range(planning_.tried.back().decided, behind);
  if (fits(index) && (!best_ || seconds(index) < seconds(*best_)))
    best_ = index;
  return index;
}

FailureOr<size_t> Planner::plan(Cell cell, size_t level) {
  if (auto known = planned_.find({cell, level}); known != planned_.end())
    return known->second;
  FailureOr<size_t> index = planWith(cell, choices_.levels[level]);
  if (succeeded(index))
    planned_[{cell, level}] = *index;
  return index;
}

/// The level of the least bytes.
FailureOr<size_t> Planner::lastLevel(Cell cell) {
  FailureOr<const Candidates *> made = step(cell);
  if (failed(made))
    return failure();
  const bool gathersNothing = choices_.mayGatherLate && !isOpen((*made)->step(), {"prefetch"});
  return choices_.levels.size() - (gathersNothing ? 2 : 1);
}

/// Plans the level, and writes it to `fastest` if it takes less time than that one. Whether it does.
FailureOr<bool> Planner::stepTo(Cell cell, size_t level, size_t &fastest) {
  const FailureOr<size_t> known = plan(cell, fastest);
  const FailureOr<size_t> planned = succeeded(known) ? plan(cell, level) : known;
  if (failed(planned))
    return failure();
  const bool isFaster = seconds(*planned) < seconds(*known);
  if (isFaster)
    fastest = level;
  return isFaster;
}

/// The level of the least seconds. What is computed again takes time. If the step copies, it may save more:
/// activations need not be copied, and copies have more computation to lie beside. So there the search begins
/// at the fastest of the first two levels and the last, and goes on to neighbours as long as one is faster.
FailureOr<size_t> Planner::fastestLevel(Cell cell) {
  const FailureOr<size_t> last = lastLevel(cell);
  if (failed(last) || !choices_.copies(cell))
    return failed(last) ? last : FailureOr<size_t>(0);
  size_t fastest = 0;
  for (const size_t level : {std::min<size_t>(1, *last), *last})
    if (failed(stepTo(cell, level, fastest)))
      return failure();
  for (bool moves = true; moves;) {
    moves = false;
    for (const size_t level : {std::max<size_t>(fastest, 1) - 1, std::min(fastest + 1, *last)}) {
      const FailureOr<bool> isFaster = stepTo(cell, level, fastest);
      if (failed(isFaster))
        return failure();
      moves |= *isFaster;
    }
  }
  return fastest;
}

FailureOr<size_t> Planner::planFastest(Cell cell) {
  const FailureOr<size_t> level = fastestLevel(cell);
  return succeeded(level) ? plan(cell, *level) : level;
}

/// Plans what takes the least time of the cell.
LogicalResult Planner::open(Cell cell) {
  if (!opened_.insert(cell).second)
    return success(); // by another way
  FailureOr<size_t> fastest = planFastest(cell);
  if (succeeded(fastest))
    open_.emplace(seconds(*fastest), cell);
  return fastest;
}

/// Opens a cell that takes less memory than `from`, and at least as many seconds, which are at least `least`.
/// If nothing of `from` fits, nothing is planned yet.
LogicalResult Planner::openBehind(Cell from, double least, Cell cell) {
  if (somethingFits(from))
    return open(cell);
  if (opened_.insert(cell).second)
    open_.emplace(least, cell);
  return success();
}

/// Of the levels that were planned.
bool Planner::somethingFits(Cell cell) const {
  return std::any_of(planned_.lower_bound({cell, 0}), planned_.upper_bound({cell, choices_.levels.size()}),
                     [&](const auto &level) { return fits(level.second); });
}

int64_t Planner::heldBytes(Cell cell) const {
  const MemoryReport &memory = memoryOf(cell);
  return memory.parameters + memory.gradients + memory.optimizer;
}

/// Plans the first level that fits behind the fastest one, by halves, if there is one.
LogicalResult Planner::recomputeUntilItFits(Cell cell) {
  const FailureOr<size_t> fastest = fastestLevel(cell);
  const FailureOr<size_t> last = succeeded(fastest) ? lastLevel(cell) : fastest;
  if (failed(last))
    return failure();
  size_t tooLittle = *fastest, enough = *last;
  FailureOr<size_t> most = plan(cell, enough);
  if (failed(most) || !fits(*most))
    return most;
  while (enough - tooLittle > 1) {
    const size_t middle = (tooLittle + enough) / 2;
    FailureOr<size_t> planned = plan(cell, middle);
    if (failed(planned))
      return failure();
    (fits(*planned) ? enough : tooLittle) = middle;
    if (!fits(*planned) && best_ && seconds(*planned) >= seconds(*best_))
      break; // what fits takes longer
  }
  return success();
}

/// Offloads so many kinds more that what is left may fit, with the next one that takes a part of the states
/// that counts. The optimizer's states go if a step without recomputation does not fit; what costs more
/// time goes if nothing does.
LogicalResult Planner::openOffload(Cell cell, double least) {
  constexpr int64_t kParts = 100;
  const int64_t held = heldBytes(cell);
  int64_t left = held, moved = 0;
  size_t next = cell.offload;
  const auto helps = [&] { return moved > held / kParts && left <= planning_.limit; };
  for (; next + 1 < choices_.offloads.size() && !helps(); ++next) {
    const int64_t bytes = memoryOf(cell).*kOffloadKinds[next].bytes;
    moved += bytes;
    left -= bytes;
  }
  const bool isOptimizerAlone = next == 1;
  if (!helps() || (isOptimizerAlone ? fits(firstPlanned(cell)) : somethingFits(cell)))
    return success();
  return openBehind(cell, least, {cell.division, cell.split, next});
}

/// Smaller micro-batches do not help if states alone are too large.
LogicalResult Planner::openSplit(Cell cell, double least) {
  if (holdsTooMuch(cell) || cell.split + 1 == choices_.splits.size())
    return success();
  return openBehind(cell, least, {cell.division, cell.split + 1, cell.offload});
}

/// Groups of fewer ranks do not help if those of more hold too much.
LogicalResult Planner::openDivisions() {
  for (size_t division = 0; division < choices_.divisions.size(); ++division) {
    const Cell cell{.division = division}, before{.division = division - 1};
    if (choices_.isGroup(division) && (planned_.count({before, 0}) == 0 || holdsTooMuch(before)))
      continue;
    if (failed(open(cell)))
      return failure();
  }
  return success();
}

/// Of a cell of which nothing is planned: whether something fits. Then its turn comes again by its seconds.
FailureOr<bool> Planner::turnsOutToFit(Cell cell) {
  const FailureOr<size_t> last = lastLevel(cell);
  const FailureOr<size_t> most = succeeded(last) ? plan(cell, *last) : last;
  if (failed(most))
    return failure();
  // What is computed again does not go outside. So the last level may take more memory than earlier ones.
  if (!fits(*most) && !choices_.copiesActivations)
    return false;
  const FailureOr<size_t> fastest = planFastest(cell);
  if (failed(fastest))
    return failure();
  if (!somethingFits(cell))
    return false;
  open_.emplace(seconds(*fastest), cell);
  return true;
}

LogicalResult Planner::visit(Cell cell, double least) {
  if (planned_.count({cell, 0}) == 0) {
    const FailureOr<bool> fits = turnsOutToFit(cell);
    if (failed(fits) || *fits)
      return fits;
  } else if (!holdsTooMuch(cell) && failed(recomputeUntilItFits(cell))) {
    return failure();
  }
  // What a group of ranks has no room for, all ranks together have sooner than a group that moves more.
  if (choices_.isGroup(cell.division) && !somethingFits(cell))
    return success();
  return failure(failed(openOffload(cell, least)) || failed(openSplit(cell, least)));
}

LogicalResult Planner::search() {
  if (failed(openDivisions()))
    return failure();
  while (!open_.empty()) {
    const auto [least, cell] = *open_.begin();
    open_.erase(open_.begin());
    if (best_ && seconds(*best_) <= least)
      return success();
    if (failed(visit(cell, least)))
      return failure();
  }
  return success();
}

LogicalResult Planner::keepGathered() {
  const size_t before = *best_;
  const auto found = llvm::find_if(planned_, [&](const auto &each) { return each.second == before; });
  const auto [cell, level] = found->first;
  FailureOr<const Candidates *> made = step(cell);
  if (failed(made))
    return failure();
  if (!isOpen((*made)->step(), kReuseWords) ||
      (choices_.mayGatherLate && level + 1 == choices_.levels.size()))
    return success();
  const double most = (1 + kAsFast) * seconds(before);
  const auto fitsWith = [&, cell = cell, level = level](int64_t distance) -> FailureOr<bool> {
    TriedSettings behind = choices_.levels[level];
    behind.push_back({"max_reuse_distance", std::to_string(distance)});
    FailureOr<size_t> index = planWith(cell, behind);
    if (failed(index))
      return failure();
    const bool good = fits(*index);
    if (good && seconds(*index) <= most)
      best_ = *index; // it sends less
    return good;
  };
  return fittingReuseDistance((*made)->step(), fitsWith);
}

FailureOr<const PlannedStrategy *> Planner::planSmallest() {
  for (size_t division = 0; division < choices_.divisions.size(); ++division) {
    if (choices_.isGroup(division))
      continue; // which take more memory than all ranks
    const Cell cell{division, choices_.splits.size() - 1, choices_.offloads.size() - 1};
    const FailureOr<size_t> last = lastLevel(cell);
    if (failed(last) || failed(plan(cell, *last)) ||
        (choices_.copiesActivations && failed(planFastest(cell))))
      return failure();
  }
  return &*llvm::min_element(planning_.tried, [](const PlannedStrategy &a, const PlannedStrategy &b) {
    return a.plan.bytes() < b.plan.bytes();
  });
}

llvm::json::Object trainc::planningJson(const Planning &planning) {
  return llvm::json::Object{{"memory_limit", planning.limit},
                            {"strategies", strategiesJson(planning.tried)},
                            {"taken", int64_t(planning.taken)}};
}

// --- The decision ---

namespace trainc {

FailureOr<Planning> decideWhatFits(ModuleOp model, const CompileOptions &options, int64_t limit) {
  train::ProgramOp program = *model.getOps<train::ProgramOp>().begin();
  if (program.getActivationCheckpointing() == "budget")
    return Planning();
  Planner planner(model, options, limit);
  if (failed(planner.findLevels()))
    return failure();
  if (!planner.hasChoice())
    return Planning();
  if (failed(planner.search()))
    return failure();
  if (!planner.best()) {
    FailureOr<const PlannedStrategy *> smallest = planner.planSmallest();
    if (failed(smallest))
      return failure();
    if (!planner.best()) { // the limit's own error says what its plan takes, and what would help
      train::setDerived(program, (*smallest)->decided, "memory_limit");
      return Planning();
    }
  }
  if (failed(planner.keepGathered()))
    return failure();
  Planning planning = std::move(planner).takePlanning();
  train::setDerived(program, planning.tried[planning.taken].decided, "memory_limit");
  return planning;
}

} // namespace trainc
