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

/// How many divisions of the states are planned at once.
constexpr size_t kDivisionsAtOnce = 2;

/// How many times the seconds of other levels the last one takes at most. It computes a forward again, which
/// is a third of a step, and what it does not gather ahead takes at most as long as what lay beside.
constexpr double kMostSlower = 3;

/// How many of the last levels may take the least.
constexpr size_t kLastLevels = 6;

/// Words that say what stays gathered.
const StringRef kReuseWords[] = {"max_reuse_distance", "reshard_after_forward"};

class Planner {
public:
  Planner(ModuleOp model, const CompileOptions &options, int64_t limit)
      : limit_(limit), choices_(*model.getOps<train::ProgramOp>().begin()),
        trials_(model, options, choices_, limit), levels_(choices_, trials_), model_(model) {}

  /// Fails where the step cannot be made.
  LogicalResult findLevels();
  bool hasChoice() const { return choices_.any() || isOpen(model_, kReuseWords); }

  /// These fail where a plan cannot be made. fits() says afterwards whether something does.
  LogicalResult search();
  /// Of the best strategy: what is gathered for the forward stays for the backward, as far as it fits.
  LogicalResult keepGathered();
  /// Plans what may take the least bytes: of the smallest micro-batches, with all offloaded, and activations
  /// computed again or offloaded.
  LogicalResult planSmallest();

  bool fits() const { return trials_.best().has_value(); }
  /// What fits and was kept, or else the smallest, first.
  Planning takePlanning(const std::optional<HostLimit> &host) &&;

private:
  LogicalResult open(Cell cell);
  bool mayBeOpened(size_t division, ArrayRef<Trial> beside) const;
  LogicalResult openDivisions();
  LogicalResult openBehind(Cell from, double least, Cell cell);
  LogicalResult planActivationsOutside(Cell cell);
  LogicalResult openOffload(Cell cell, double least);
  LogicalResult openSplit(Cell cell, double least);
  FailureOr<int64_t> leastBytes(Cell cell);
  FailureOr<bool> turnsOutToFit(Cell cell, double &least);
  bool isDominated(Cell cell) const;
  LogicalResult visit(Cell cell, double least);
  LogicalResult planOtherDivisions();
  LogicalResult planSmallestOf(ArrayRef<Cell> cells);
  LogicalResult planOthersThatMayBeSmaller(ArrayRef<Cell> cells);
  FailureOr<SmallVector<bool>> planReuse(Cell cell, ArrayRef<TriedSettings> behind);

  int64_t heldBytes(Cell cell) const;                      ///< of states, which no recomputation makes fewer
  int64_t heldBytesWithout(Cell cell, size_t kinds) const; ///< of kOffloadKinds so many
  size_t mostOffload() const { return choices_.mayOffload ? std::size(kOffloadKinds) : 0; }
  bool holdsTooMuch(Cell cell) const { return heldBytes(cell) > limit_; }
  bool isPlanned(Cell cell) const { return trials_.isPlanned({cell, 0}); }
  const MemoryReport &memoryOf(Cell cell) const { return trials_[trials_.firstOf(cell)].plan.memory; }

  int64_t limit_;
  Choices choices_;
  Trials trials_;
  LevelSearch levels_;
  ModuleOp model_;
  std::multimap<double, Cell> open_; ///< by the seconds that they take at least
  std::set<Cell> opened_;
  std::optional<size_t> taken_;
};

} // namespace

// --- The search ---

/// Nothing is computed again, then what is cheap, and then more and more of blocks.
LogicalResult Planner::findLevels() {
  std::vector<TriedSettings> blocks(1);
  if (choices_.mayRecompute) {
    FailureOr<const Candidates *> first = trials_.step({});
    if (failed(first))
      return failure();
    blocks = checkpointLevels((*first)->step());
  }
  choices_.addLevels(blocks);
  return success();
}

/// Plans what takes the least time of the cell.
LogicalResult Planner::open(Cell cell) {
  if (!opened_.insert(cell).second)
    return success(); // by another way
  FailureOr<size_t> fastest = levels_.planFastest(cell);
  if (succeeded(fastest))
    open_.emplace(trials_.seconds(*fastest), cell);
  return fastest;
}

/// Opens a cell that takes less memory than `from`, and at least as many seconds, which are at least `least`.
/// If nothing of `from` fits, nothing is planned yet.
LogicalResult Planner::openBehind(Cell from, double least, Cell cell) {
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

/// Plans the cell with activations outside as well, if a step without recomputation does not fit. What is
/// computed again is not copied, so little is, as far as that fits. Those whose copies hide take more memory
/// than all, so all are planned first.
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

/// What no recomputation and no split makes less.
FailureOr<int64_t> Planner::leastBytes(Cell cell) {
  const FailureOr<size_t> last = levels_.lastLevel(cell);
  if (failed(last))
    return failure();
  return trials_.leastBytes(cell, *last);
}

/// Offloads so many kinds more that what is left may fit, with the next one that takes a part of the states
/// that counts. The optimizer's states go if a step without recomputation does not fit; what costs more
/// time goes if nothing does.
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
    const Cell behind{cell.division, cell.split, next};
    const FailureOr<int64_t> takes = leastBytes(behind);
    if (failed(takes))
      return failure();
    if (*takes <= limit_)
      return openBehind(cell, least, behind);
  }
  return success();
}

/// Smaller micro-batches do not help if states alone are too large.
LogicalResult Planner::openSplit(Cell cell, double least) {
  if (holdsTooMuch(cell) || cell.split + 1 == choices_.splits.size())
    return success();
  return openBehind(cell, least, {cell.division, cell.split + 1, cell.offload});
}

/// Groups of fewer ranks do not help if those of more hold too much.
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

/// Of a cell of which nothing is planned: whether something fits. Then its turn comes again by its seconds.
/// `least` becomes what its levels take at least.
FailureOr<bool> Planner::turnsOutToFit(Cell cell, double &least) {
  const FailureOr<size_t> last = levels_.lastLevel(cell);
  if (failed(last))
    return failure();
  // Once something fits, the first level says whether this may be faster. It takes the other processor's
  // time.
  const bool bounds = trials_.best() && !choices_.copies(cell);
  if (failed(trials_.plan({{cell, 0}, {cell, *last}})) || failed(levels_.planSmallestIfClose(cell)))
    return failure();
  const auto secondsOf = [&](size_t level) { return trials_.seconds(trials_.numberOf({cell, level})); };
  least = std::max({least, secondsOf(*last) / kMostSlower, bounds ? secondsOf(0) : 0});
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

/// Whether another way to divide states takes fewer seconds and bytes. What saves bytes here saves them
/// there.
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
    return openSplit(cell, least); // more micro-batches cost more where parameters are gathered for each
  // What is computed again does not go outside. So the last level may take more memory than earlier ones.
  const bool mayFit = !isNew || choices_.copiesActivationsAnyway;
  // Activations that go outside may take less time than those that are computed again.
  if (failed(planActivationsOutside(cell)) ||
      (mayFit && !holdsTooMuch(cell) && failed(levels_.planUntilItFits(cell))))
    return failure();
  // What a group of ranks has no room for, all ranks together have sooner than a group that moves more.
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

/// If states are divided among more ranks, there is less to offload, except that more is gathered beside it.
/// So the best strategy's offload is planned with the other divisions as well, if the states that stay may
/// fit. If none stay, each rank fetches more where they are divided less.
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
    std::vector<TriedSettings> behind(distances.size(), choices_.levels[level]);
    for (auto [settings, distance] : llvm::zip_equal(behind, distances))
      settings.push_back({"max_reuse_distance", std::to_string(distance)});
    return planReuse(cell, behind);
  };
  return keepWhatFits((*made)->step(), fit);
}

/// Plans a cell with settings that send less and less. Takes those that fit and are not slower than what was
/// taken before. Which ones fit.
FailureOr<SmallVector<bool>> Planner::planReuse(Cell cell, ArrayRef<TriedSettings> behind) {
  const size_t first = trials_.size();
  if (failed(trials_.planWith(cell, behind)))
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
    if (!choices_.isGroup(division)) // which take more memory than all ranks
      cells.push_back({division, choices_.splits.size() - 1, mostOffload()});
  std::reverse(cells.begin(), cells.end()); // what divides the most takes the least
  if (failed(planSmallestOf(cells.front())) || failed(planOthersThatMayBeSmaller(cells)))
    return failure();
  if (choices_.copiesActivationsAnyway)
    for (const Cell &cell : cells)
      if (failed(levels_.planFastest(cell)))
        return failure();
  const std::optional<Trial> smallest = trials_.trialOf(trials_.smallest());
  return smallest && !fits() ? LogicalResult(levels_.planSmallest(smallest->cell, kLastLevels)) : success();
}

/// If little but what an op works with is in memory, the most recomputation may take more than a little. Of
/// cells with fewer kinds outside less is planned: these take the least if states are small.
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
    if (cell.offload < mostOffload()) {
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

/// The other divisions, and those with fewer kinds outside: where states are small, what offloads them may
/// take more than they do. If the host has no room for the smallest so far, all other divisions.
LogicalResult Planner::planOthersThatMayBeSmaller(ArrayRef<Cell> cells) {
  const CandidatePlan &smallest = trials_[trials_.smallest()].plan;
  if (smallest.hostLeft < 0)
    return planSmallestOf(cells.drop_front());
  const int64_t bytes = smallest.bytes();
  std::vector<Cell> others;
  for (Cell cell : cells)
    for (cell.offload = 0; cell.offload <= mostOffload(); ++cell.offload) {
      if (cell == cells.front() || heldBytesWithout({.division = cell.division}, cell.offload) >= bytes)
        continue;
      const FailureOr<int64_t> takes = leastBytes(cell);
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
  if (program.getActivationCheckpointing() == "budget")
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
  // If it does not fit, the limit's own error says what it takes, and what would help.
  train::setDerived(program, planning.tried.front().decided, "memory_limit");
  return planning;
}

} // namespace trainc
