#include "lib/Pipelines/Planner.h"

#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/CheckpointLevels.h"
#include "lib/Pipelines/LevelSearch.h"
#include "lib/Pipelines/Unsharding.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace trainc;

namespace {

/// Number of shardings of the states that are planned at a time.
constexpr size_t kDivisionsAtOnce = 2;

/// Maximum ratio between the last level's seconds and those of other levels. It recomputes the forward, which
/// is a third of a step, and gathers that it does not prefetch are exposed.
constexpr double kMaxSlowdown = 3;

/// Number of last levels among which the smallest may be.
constexpr size_t kLastLevels = 6;

/// Words that control how long gathered parameters are kept.
const StringRef kReuseWords[] = {"max_reuse_distance", "reshard_after_forward"};

class Planner {
public:
  Planner(ModuleOp model, const CompileOptions &options, int64_t limit)
      : limit_(limit), choices_(*model.getOps<train::ProgramOp>().begin()),
        trials_(model, options, choices_, limit), levels_(choices_, trials_), model_(model) {}

  /// Fails if the step cannot be created.
  LogicalResult findLevels();
  bool hasChoice() const { return choices_.any() || isOpen(model_, kReuseWords); }

  /// The following methods fail if a plan cannot be made. Afterwards fits() tells whether a strategy fits.
  LogicalResult search();
  /// Keeps gathered parameters of the best strategy from forward to backward, as far as they fit.
  LogicalResult keepGathered();
  /// Plans the candidates for the fewest bytes: the smallest micro-batches, with everything offloaded, and
  /// activations recomputed or offloaded.
  LogicalResult planSmallest();

  bool fits() const { return trials_.best().has_value(); }
  /// Puts the chosen strategy that fits, or else the smallest, first.
  Planning takePlanning(const std::optional<HostLimit> &host) &&;

private:
  LogicalResult open(Cell cell);
  bool mayBeOpened(size_t division, ArrayRef<Trial> beside) const;
  LogicalResult openDivisions();
  LogicalResult expand(Cell from, double least, Cell cell);
  LogicalResult planActivationsOutside(Cell cell);
  LogicalResult openOffload(Cell cell, double least);
  LogicalResult openSplit(Cell cell, double least);
  FailureOr<int64_t> lowerBoundBytes(Cell cell);
  FailureOr<bool> turnsOutToFit(Cell cell, double &least);
  bool isDominated(Cell cell) const;
  LogicalResult visit(Cell cell, double least);
  LogicalResult planOtherDivisions();
  LogicalResult planSmallestOf(ArrayRef<Cell> cells);
  LogicalResult planOthersThatMayBeSmaller(ArrayRef<Cell> cells);
  FailureOr<SmallVector<bool>> planReuse(Cell cell, ArrayRef<TriedSettings> extra);

  int64_t heldBytes(Cell cell) const;                      ///< of states, which recomputation does not reduce
  int64_t heldBytesWithout(Cell cell, size_t kinds) const; ///< with `kinds` of kOffloadKinds offloaded
  size_t maxOffload() const { return choices_.mayOffload ? std::size(kOffloadKinds) : 0; }
  bool holdsTooMuch(Cell cell) const { return heldBytes(cell) > limit_; }
  bool isPlanned(Cell cell) const { return trials_.isPlanned({cell, 0}); }
  const MemoryReport &memoryOf(Cell cell) const { return trials_[trials_.firstOf(cell)].plan.memory; }

  int64_t limit_;
  Choices choices_;
  Trials trials_;
  LevelSearch levels_;
  ModuleOp model_;
  std::multimap<double, Cell> open_; ///< by lower bound of their seconds
  std::set<Cell> opened_;
  std::optional<size_t> taken_;
};

} // namespace

// --- The search ---

/// Collects levels: no recomputation, then of cheap ops, then of ever more blocks. Drops smaller
/// micro-batches if the loss combines the samples of one.
LogicalResult Planner::findLevels() {
  std::vector<TriedSettings> blocks(1);
  if (choices_.mayRecompute || choices_.splits.size() > 1) {
    FailureOr<const Candidates *> first = trials_.step({});
    if (failed(first))
      return failure();
    ModuleOp step = (*first)->step();
    if ((*step.getOps<train::ProgramOp>().begin()).getCombinedSamples())
      choices_.splits.resize(1);
    if (choices_.mayRecompute)
      blocks = checkpointLevels(step);
  }
  choices_.addLevels(blocks);
  return success();
}

/// Plans the fastest level of the cell.
LogicalResult Planner::open(Cell cell) {
  if (!opened_.insert(cell).second)
    return success(); // reached on another path
  FailureOr<size_t> fastest = levels_.planFastest(cell);
  if (succeeded(fastest))
    open_.emplace(trials_.seconds(*fastest), cell);
  return fastest;
}

/// Expands `from` by a cell that takes less memory and at least as many seconds, of which `least` is a lower
/// bound. If nothing of `from` fits, the cell is queued without planning it.
LogicalResult Planner::expand(Cell from, double least, Cell cell) {
  if (trials_.somethingFits(from))
    return open(cell);
  if (opened_.insert(cell).second)
    open_.emplace(least, cell);
  return success();
}

int64_t Planner::heldBytes(Cell cell) const {
  const MemoryReport &memory = memoryOf(cell);
  return memory.parameters + memory.gradients + memory.optimizer;
}

int64_t Planner::heldBytesWithout(Cell cell, size_t kinds) const {
  int64_t held = heldBytes(cell);
  for (const OffloadKind &kind : ArrayRef(kOffloadKinds).take_front(kinds))
    held -= memoryOf(cell).*kind.bytes;
  return held;
}

/// If a step without recomputation does not fit, plans the cell with offloaded activations as well.
/// Recomputed values are not copied, so that little is recomputed, as far as that fits. Offloading only
/// hidden copies takes more memory than offloading all, so that all are planned first.
LogicalResult Planner::planActivationsOutside(Cell cell) {
  if (!choices_.mayOffload || choices_.isGroup(cell.division) || holdsTooMuch(cell) ||
      trials_.fits(trials_.firstOf(cell)))
    return success();
  Cell all = cell, hidden = cell;
  hidden.activations = 1;
  all.activations = 2;
  const FailureOr<size_t> last = levels_.lastLevel(cell);
  if (failed(last))
    return failure();
  const size_t cheap = std::min<size_t>(1, *last);
  if (failed(trials_.plan({{all, cheap}, {all, *last}})))
    return failure();
  if (trials_.bytes(trials_.numberOf({all, cheap})) <= limit_ &&
      failed(trials_.plan({{hidden, 0}, {hidden, cheap}, {all, 0}})))
    return failure();
  const FailureOr<size_t> smallest = levels_.planSmallestIfClose(all);
  if (failed(smallest))
    return failure();
  const bool recomputes =
      trials_.fits(trials_.numberOf({all, *smallest})) && !trials_.fits(trials_.numberOf({all, cheap}));
  return recomputes ? levels_.planUntilItFits(all, cheap) : success();
}

/// Returns the bytes that neither recomputation nor smaller micro-batches reduce.
FailureOr<int64_t> Planner::lowerBoundBytes(Cell cell) {
  const FailureOr<size_t> last = levels_.lastLevel(cell);
  if (failed(last))
    return failure();
  return trials_.lowerBoundBytes(cell, *last);
}

/// Offloads as many more kinds as are needed for the rest to fit, including the next one that is a relevant
/// share of the states. Optimizer states are offloaded if a step without recomputation does not fit; slower
/// kinds if nothing does.
LogicalResult Planner::openOffload(Cell cell, double least) {
  constexpr int64_t kParts = 100;
  const int64_t held = heldBytes(cell);
  int64_t left = held, moved = 0;
  for (size_t next = cell.offload; next < std::size(kOffloadKinds) && choices_.mayOffload;) {
    const int64_t bytes = memoryOf(cell).*kOffloadKinds[next++].bytes;
    moved += bytes;
    left -= bytes;
    if (moved <= held / kParts || left > limit_)
      continue;
    const bool isOptimizerAlone = next == 1;
    if (isOptimizerAlone ? trials_.fits(trials_.firstOf(cell)) : trials_.somethingFits(cell))
      return success();
    const Cell extra{cell.division, cell.split, next};
    const FailureOr<int64_t> takes = lowerBoundBytes(extra);
    if (failed(takes))
      return failure();
    if (*takes <= limit_)
      return expand(cell, least, extra);
  }
  return success();
}

/// Smaller micro-batches do not help if states alone are too large.
LogicalResult Planner::openSplit(Cell cell, double least) {
  if (holdsTooMuch(cell) || cell.split + 1 == choices_.splits.size())
    return success();
  return expand(cell, least, {cell.division, cell.split + 1, cell.offload});
}

/// Smaller groups do not help if states exceed the limit in larger groups.
bool Planner::mayBeOpened(size_t division, ArrayRef<Trial> beside) const {
  if (!choices_.isGroup(division))
    return true;
  const Trial before = {{.division = division - 1}, 0};
  return llvm::is_contained(beside, before) || (trials_.isPlanned(before) && !holdsTooMuch(before.cell));
}

LogicalResult Planner::openDivisions() {
  for (size_t division = 0; division < choices_.divisions.size();) {
    std::vector<Trial> together;
    for (; division < choices_.divisions.size() && together.size() < kDivisionsAtOnce; ++division)
      if (mayBeOpened(division, together))
        together.push_back({{.division = division}, 0});
    if (failed(trials_.plan(together)))
      return failure();
    for (const Trial &trial : together)
      if (failed(open(trial.cell)))
        return failure();
  }
  return success();
}

/// For a cell without plans: returns whether it fits. If so, it is queued again by its seconds. `least`
/// becomes the lower bound of its levels' seconds.
FailureOr<bool> Planner::turnsOutToFit(Cell cell, double &least) {
  const FailureOr<size_t> last = levels_.lastLevel(cell);
  if (failed(last))
    return failure();
  // Once a strategy fits, the first level gives a bound for whether this cell may be faster. It is planned on
  // the other processor at the same time.
  const bool bounds = trials_.best() && !choices_.copies(cell);
  if (failed(trials_.plan({{cell, 0}, {cell, *last}})) || failed(levels_.planSmallestIfClose(cell)))
    return failure();
  const auto secondsOf = [&](size_t level) { return trials_.seconds(trials_.numberOf({cell, level})); };
  least = std::max({least, secondsOf(*last) / kMaxSlowdown, bounds ? secondsOf(0) : 0});
  if (trials_.takesLongerThanBest(least))
    return false;
  if (!trials_.somethingFits(cell))
    return false;
  const FailureOr<size_t> fastest = levels_.planFastest(cell);
  if (failed(fastest))
    return failure();
  open_.emplace(trials_.seconds(*fastest), cell);
  return true;
}

/// Whether another sharding takes fewer seconds and bytes. Settings that save bytes with one sharding save
/// them with the other.
bool Planner::isDominated(Cell cell) const {
  const auto [same, level] = trials_.trialOf(trials_.firstOf(cell)).value();
  for (size_t division = 0; division < choices_.divisions.size(); ++division) {
    const Trial other = {{division, cell.split, cell.offload}, level};
    if (division != cell.division && trials_.isPlanned(other) &&
        trials_.isBetter(trials_.numberOf(other), trials_.numberOf({same, level})))
      return true;
  }
  return false;
}

LogicalResult Planner::visit(Cell cell, double least) {
  const bool isNew = !isPlanned(cell);
  if (isNew) {
    const FailureOr<bool> fits = turnsOutToFit(cell, least);
    if (failed(fits) || *fits || trials_.takesLongerThanBest(least))
      return fits;
  }
  if (isDominated(cell))
    return openSplit(cell, least); // more micro-batches cost more if parameters are gathered for each
  // Recomputed values are not offloaded, so that the last level may take more memory than earlier ones.
  const bool mayFit = !isNew || choices_.copiesActivationsAnyway;
  // Offloading activations may be faster than recomputing them.
  if (failed(planActivationsOutside(cell)) ||
      (mayFit && !holdsTooMuch(cell) && failed(levels_.planUntilItFits(cell))))
    return failure();
  // If a strategy does not fit with groups of ranks, sharding over all ranks is better than groups with more
  // transfers.
  if (choices_.isGroup(cell.division) && !trials_.somethingFits(cell))
    return success();
  return failure(failed(openOffload(cell, least)) || failed(openSplit(cell, least)));
}

LogicalResult Planner::search() {
  if (failed(openDivisions()))
    return failure();
  while (!open_.empty()) {
    const auto [least, cell] = *open_.begin();
    open_.erase(open_.begin());
    if (trials_.takesLongerThanBest(least))
      break;
    if (failed(visit(cell, least)))
      return failure();
  }
  return planOtherDivisions();
}

/// If states are sharded over more ranks, there is less to offload, though more is gathered. Therefore the
/// best strategy's offloading is planned with the other shardings as well, if the resident states may fit. If
/// none are resident, fewer shards only mean more fetches per rank.
LogicalResult Planner::planOtherDivisions() {
  const std::optional<size_t> best = trials_.best();
  const std::optional<Trial> found = best ? trials_.trialOf(*best) : std::nullopt;
  if (!found || found->cell.offload == std::size(kOffloadKinds) ||
      (found->cell.offload == 0 && found->cell.activations == 0))
    return success();
  std::vector<Trial> others;
  for (size_t division = 0; division < choices_.divisions.size(); ++division) {
    if (choices_.isGroup(division) || heldBytesWithout({.division = division}, found->cell.offload) > limit_)
      continue;
    Cell other = found->cell;
    other.division = division;
    others.push_back({other, 0});
    others.push_back({other, found->level});
  }
  return trials_.plan(others);
}

LogicalResult Planner::keepGathered() {
  const size_t before = *trials_.best();
  taken_ = before;
  const auto [cell, level] = *trials_.trialOf(before);
  FailureOr<const Candidates *> made = trials_.step(cell);
  if (failed(made))
    return failure();
  if (!isOpen((*made)->step(), kReuseWords) ||
      (choices_.mayGatherLate && level + 1 == choices_.levels.size()))
    return success();
  const auto fit = [&, cell = cell, level = level](ArrayRef<int64_t> distances) {
    std::vector<TriedSettings> extra(distances.size(), choices_.levels[level]);
    for (auto [settings, distance] : llvm::zip_equal(extra, distances))
      settings.push_back({"max_reuse_distance", std::to_string(distance)});
    return planReuse(cell, extra);
  };
  return keepWhatFits((*made)->step(), fit);
}

/// Plans a cell with settings that send ever less. Takes those that fit and are not slower than the previous
/// choice. Returns which ones fit.
FailureOr<SmallVector<bool>> Planner::planReuse(Cell cell, ArrayRef<TriedSettings> extra) {
  const size_t first = trials_.size();
  if (failed(trials_.planWith(cell, extra)))
    return failure();
  SmallVector<bool> fit;
  for (size_t number = first; number < trials_.size(); ++number) {
    fit.push_back(trials_.fits(number));
    if (fit.back() && trials_.seconds(number) <= trials_.seconds(*taken_))
      taken_ = number;
  }
  return fit;
}

LogicalResult Planner::planSmallest() {
  std::vector<Cell> cells;
  for (size_t division = 0; division < choices_.divisions.size(); ++division)
    if (!choices_.isGroup(division)) // groups take more memory than all ranks
      cells.push_back({division, choices_.splits.size() - 1, maxOffload()});
  std::reverse(cells.begin(), cells.end()); // the most sharded takes the least memory
  if (failed(planSmallestOf(cells.front())) || failed(planOthersThatMayBeSmaller(cells)))
    return failure();
  if (choices_.copiesActivationsAnyway)
    for (const Cell &cell : cells)
      if (failed(levels_.planFastest(cell)))
        return failure();
  const std::optional<Trial> smallest = trials_.trialOf(trials_.smallest());
  return smallest && !fits() ? LogicalResult(levels_.planSmallest(smallest->cell, kLastLevels)) : success();
}

/// If little but an op's operands is in memory, the most recomputation may take more memory than a little.
/// With fewer kinds offloaded fewer levels are planned, because these cells are the smallest only if states
/// are small.
LogicalResult Planner::planSmallestOf(ArrayRef<Cell> cells) {
  std::vector<Trial> together;
  const auto add = [&](Cell cell, std::initializer_list<size_t> levels) {
    for (const size_t level : levels)
      together.push_back({cell, level});
  };
  for (const Cell &cell : cells) {
    const FailureOr<size_t> last = levels_.lastLevel(cell);
    if (failed(last))
      return failure();
    const size_t cheap = std::min<size_t>(1, *last);
    Cell outside = cell;
    outside.activations = std::size(kActivationWords) - 1;
    if (cell.offload < maxOffload()) {
      add(cell, {*last});
      add(outside, {cheap});
      continue;
    }
    add(cell, {0, cheap, *last});
    if (choices_.mayOffload)
      add(outside, {0, cheap, *last});
  }
  return trials_.plan(together);
}

/// Plans the other shardings, and those with fewer kinds offloaded: if states are small, the buffers for
/// offloading them may be larger. If the smallest plan so far does not fit into the host, plans all other
/// shardings.
LogicalResult Planner::planOthersThatMayBeSmaller(ArrayRef<Cell> cells) {
  const CandidatePlan &smallest = trials_[trials_.smallest()].plan;
  if (smallest.hostLeft < 0)
    return planSmallestOf(cells.drop_front());
  const int64_t bytes = smallest.bytes();
  std::vector<Cell> others;
  for (Cell cell : cells)
    for (cell.offload = 0; cell.offload <= maxOffload(); ++cell.offload) {
      if (cell == cells.front() || heldBytesWithout({.division = cell.division}, cell.offload) >= bytes)
        continue;
      const FailureOr<int64_t> takes = lowerBoundBytes(cell);
      if (failed(takes))
        return failure();
      if (*takes < bytes)
        others.push_back(cell);
    }
  return planSmallestOf(others);
}

Planning Planner::takePlanning(const std::optional<HostLimit> &host) && {
  Planning planning;
  if (host && !taken_)
    planning.hostThatFits = host->ranks * trials_.hostThatFits();
  const size_t decided = taken_ ? *taken_ : trials_.smallest();
  planning.set(limit_, std::move(trials_).take(), decided);
  return planning;
}

// --- The decision ---

namespace trainc {

FailureOr<Planning> decideWhatFits(ModuleOp model, const CompileOptions &options, int64_t limit) {
  train::ProgramOp program = *model.getOps<train::ProgramOp>().begin();
  if (train::hasBudget(program))
    return Planning();
  Planner planner(model, options, limit);
  if (failed(planner.findLevels()))
    return failure();
  if (!planner.hasChoice())
    return Planning();
  if (failed(planner.search()) || (!planner.fits() && failed(planner.planSmallest())) ||
      (planner.fits() && failed(planner.keepGathered())))
    return failure();
  Planning planning = std::move(planner).takePlanning(hostLimitOf(program));
  // If it does not fit, checkMemory() reports the error with advice.
  train::setDerived(program, planning.tried.front().decided, "memory_limit");
  return planning;
}

} // namespace trainc
