#include "lib/Pipelines/Planner.h"

#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Pipelines/CheckpointBudget.h"
#include "lib/Pipelines/MemoryLimit.h"

#include <map>

using namespace mlir;
using namespace trainc;

namespace {

/// How ranks divide states, and into which micro-batches a step is cut: numbers of the planner's choices.
using Cell = std::pair<size_t, size_t>;

class Planner {
public:
  Planner(ModuleOp model, int64_t limit)
      : model_(model), program_(*model.getOps<train::ProgramOp>().begin()) {
    planning_.limit = limit;
    findDivisions();
    resident_ = divisions_.size();
    if (isOpen("offload") && program_.getOptimizer().hasMoments())
      llvm::append_range(divisions_, combine(divisions_, "offload", {"optimizer"}));
    findSplits();
  }

  /// Fails where the step cannot be made.
  LogicalResult findLevels();
  bool hasChoice() const { return divisions_.size() * splits_.size() * levels_.size() > 1; }

  /// Fails where a plan cannot be made. `best()` is null afterwards if nothing fits.
  LogicalResult search();
  /// The strategy of the least bytes: the smallest micro-batches, and all computed again.
  FailureOr<const PlannedStrategy *> planSmallest();

  std::optional<size_t> best() const { return best_; }
  Planning takePlanning() && {
    planning_.taken = *best_;
    return std::move(planning_);
  }

private:
  bool isOpen(StringRef word) const { return !isDecided(model_, {}, word); }
  void findDivisions();
  void findSplits();

  TriedSettings decided(Cell cell) const; ///< before activation checkpointing
  FailureOr<const Candidates *> step(Cell cell);
  FailureOr<size_t> plan(Cell cell, size_t level);
  LogicalResult open(Cell cell);
  LogicalResult recomputeUntilItFits(Cell cell);

  const PlannedStrategy &tried(size_t index) const { return planning_.tried[index]; }
  bool fits(size_t index) const { return tried(index).plan.bytes() <= planning_.limit; }
  double seconds(size_t index) const { return tried(index).plan.step.total; }

  ModuleOp model_;
  train::ProgramOp program_;
  Planning planning_;
  std::vector<TriedSettings> divisions_, splits_, levels_; ///< the fastest first, of one division
  size_t resident_ = 1; ///< so many divisions offload nothing, and as many behind them do, if that is open
  std::map<Cell, Candidates> steps_;
  std::map<std::pair<Cell, size_t>, size_t> planned_; ///< cell and level: which of those tried
  std::multimap<double, Cell> open_;                  ///< by the seconds that they take at least
  std::optional<size_t> best_;
};

} // namespace

// --- What there is to decide ---

void Planner::findDivisions() {
  divisions_ = {{}};
  const auto ranks = int64_t(program_.getRanks());
  if (ranks == 1)
    return;
  if (isOpen("zero_stage"))
    divisions_ = combine(divisions_, "zero_stage", {"0", "1", "2", "3"});
  if (!isOpen("hybrid_shard") || train::shardingOf(program_).reproducibleOverRanks)
    return;
  for (size_t i = 0, count = divisions_.size(); i < count; ++i) {
    const int64_t stage =
        divisions_[i].empty() ? int64_t(program_.getZeroStage()) : std::stoll(divisions_[i].front().value);
    for (int64_t size = 2; stage > 0 && size < ranks; size *= 2) // as nodes have
      if (ranks % size == 0) {
        divisions_.push_back(divisions_[i]);
        divisions_.back().push_back({"hybrid_shard", std::to_string(size)});
      }
  }
}

void Planner::findSplits() {
  splits_ = {{}};
  if (!maySplitBatch(program_))
    return;
  const auto batch = int64_t(*program_.getMicroBatch()), given = int64_t(program_.getAccumulate());
  for (int64_t parts = 2; parts <= batch; ++parts)
    if (batch % parts == 0)
      splits_.push_back(
          {{"micro_batch", std::to_string(batch / parts)}, {"accumulate", std::to_string(given * parts)}});
}

/// Nothing is computed again, then what is cheap, and then more and more of blocks.
LogicalResult Planner::findLevels() {
  levels_ = {{}};
  if (!isOpen("activation_checkpointing"))
    return success();
  levels_ = combine(levels_, "activation_checkpointing", {"none", "selective"});
  FailureOr<const Candidates *> first = step({0, 0});
  if (failed(first))
    return failure();
  const std::vector<TriedSettings> blocks = checkpointLevels((*first)->step());
  for (const TriedSettings &kept : llvm::drop_begin(blocks, 2)) {
    levels_.push_back({{"activation_checkpointing", "full"}});
    llvm::append_range(levels_.back(), kept);
  }
  return success();
}

// --- The search ---

TriedSettings Planner::decided(Cell cell) const {
  TriedSettings settings = divisions_[cell.first];
  llvm::append_range(settings, splits_[cell.second]);
  return settings;
}

FailureOr<const Candidates *> Planner::step(Cell cell) {
  auto known = steps_.find(cell);
  if (known == steps_.end()) {
    FailureOr<Candidates> made = makeStep(model_, {}, decided(cell));
    if (failed(made))
      return failure();
    known = steps_.emplace(cell, std::move(*made)).first;
  }
  return &known->second;
}

FailureOr<size_t> Planner::plan(Cell cell, size_t level) {
  auto [known, isNew] = planned_.try_emplace({cell, level}, planning_.tried.size());
  if (!isNew)
    return known->second;
  FailureOr<const Candidates *> made = step(cell);
  if (failed(made))
    return failure();
  FailureOr<CandidatePlan> planned = (*made)->plan(levels_[level]);
  if (failed(planned))
    return failure();
  TriedSettings all = decided(cell);
  llvm::append_range(all, levels_[level]);
  planning_.tried.push_back({std::move(all), *planned});
  const size_t index = known->second;
  if (fits(index) && (!best_ || seconds(index) < seconds(*best_)))
    best_ = index;
  return index;
}

LogicalResult Planner::open(Cell cell) {
  if (planned_.count({cell, 0}) != 0)
    return success(); // by another way
  FailureOr<size_t> fastest = plan(cell, 0);
  if (succeeded(fastest))
    open_.emplace(seconds(*fastest), cell);
  return fastest;
}

/// Plans the first level that fits, by halves, if there is one.
LogicalResult Planner::recomputeUntilItFits(Cell cell) {
  size_t tooLittle = 0, enough = levels_.size() - 1;
  FailureOr<size_t> most = plan(cell, enough);
  if (failed(most) || !fits(*most))
    return most;
  while (enough - tooLittle > 1) {
    const size_t middle = (tooLittle + enough) / 2;
    FailureOr<size_t> planned = plan(cell, middle);
    if (failed(planned))
      return failure();
    (fits(*planned) ? enough : tooLittle) = middle;
  }
  return success();
}

LogicalResult Planner::search() {
  for (size_t division = 0; division < resident_; ++division)
    if (failed(open({division, 0})))
      return failure();
  while (!open_.empty()) {
    const auto [least, cell] = *open_.begin();
    open_.erase(open_.begin());
    if (best_ && seconds(*best_) <= least)
      return success();
    if (failed(recomputeUntilItFits(cell)))
      return failure();
    const bool mayOffload = cell.first < resident_ && resident_ < divisions_.size();
    if (mayOffload && !fits(planned_.at({cell, 0})) && failed(open({cell.first + resident_, cell.second})))
      return failure();
    const MemoryReport &memory = tried(planned_.at({cell, 0})).plan.memory;
    const int64_t held = memory.parameters + memory.gradients + memory.optimizer;
    const bool holdsTooMuch = held > planning_.limit;
    if (!holdsTooMuch && cell.second + 1 < splits_.size() && failed(open({cell.first, cell.second + 1})))
      return failure();
  }
  return success();
}

FailureOr<const PlannedStrategy *> Planner::planSmallest() {
  for (size_t division = 0; division < divisions_.size(); ++division)
    if (failed(plan({division, splits_.size() - 1}, levels_.size() - 1)))
      return failure();
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

FailureOr<Planning> decideWhatFits(ModuleOp model, int64_t limit) {
  train::ProgramOp program = *model.getOps<train::ProgramOp>().begin();
  if (program.getActivationCheckpointing() == "budget")
    return Planning();
  Planner planner(model, limit);
  if (failed(planner.findLevels()))
    return failure();
  if (!planner.hasChoice())
    return Planning();
  if (failed(planner.search()))
    return failure();
  if (planner.best()) {
    Planning planning = std::move(planner).takePlanning();
    train::setDerived(program, planning.tried[planning.taken].decided, "memory_limit");
    return planning;
  }
  FailureOr<const PlannedStrategy *> smallest = planner.planSmallest();
  if (failed(smallest))
    return failure();
  // The limit's own error says what its plan takes, and what would help.
  train::setDerived(program, (*smallest)->decided, "memory_limit");
  return Planning();
}

} // namespace trainc
