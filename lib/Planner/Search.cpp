#include "lib/Planner/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;

namespace trainc {

/// Number of shardings of the states that are evaluated at a time.
static constexpr size_t kShardingsAtOnce = 2;

/// Maximum ratio between the last level's seconds and those of other levels. It recomputes the forward, which
/// is a third of a step, and gathers that it does not prefetch are exposed.
static constexpr double kMaxSlowdown = 3;

/// Number of last levels among which the smallest may be.
static constexpr size_t kLastLevels = 6;

// --- Evaluated strategies ---

LogicalResult Search::evaluate(ArrayRef<Strategy> strategies) {
  std::vector<Settings> settings;
  for (const Strategy &strategy : strategies)
    settings.push_back(space_.settingsOf(strategy));
  const FailureOr<std::vector<size_t>> numbers = evaluations_.add(settings);
  if (failed(numbers))
    return failure();
  for (auto [strategy, number] : zip_equal(strategies, *numbers))
    numbers_.try_emplace(strategy, number);
  return success();
}

Strategy Search::strategyOf(size_t number) const {
  return find_if(numbers_, [&](const auto &each) { return each.second == number; })->first;
}

const Evaluation &Search::firstOf(const Strategy &strategy) const {
  return evaluations_[numbers_.lower_bound(strategy.unrecomputed())->second];
}

bool Search::anyLevelFits(const Strategy &strategy) const {
  return std::any_of(numbers_.lower_bound(strategy.unrecomputed()),
                     numbers_.lower_bound(strategy.with(kRecomputation, space_.size(kRecomputation))),
                     [&](const auto &each) { return evaluations_[each.second].fits(limit_); });
}

bool Search::isTooSlow(double seconds) const {
  const std::optional<size_t> fastest = best();
  return fastest && seconds >= evaluations_[*fastest].seconds();
}

/// Returns the bytes of states that stay in memory with this many more kinds offloaded. Neither recomputation
/// nor smaller micro-batches reduce them.
int64_t Search::residentStates(const Strategy &strategy, size_t offloaded) const {
  const MemoryReport &memory = firstOf(strategy).memory;
  int64_t bytes = memory.states();
  for (const OffloadKind &kind : ArrayRef(kOffloadKinds).take_front(offloaded))
    bytes -= memory.*kind.bytes;
  return bytes;
}

bool Search::statesFit(const Strategy &strategy) const { return residentStates(strategy, 0) <= limit_; }

/// Returns the bytes that neither recomputation nor smaller micro-batches reduce. All strategies with several
/// micro-batches share a bound: accumulated gradients take the same memory.
FailureOr<int64_t> Search::lowerBoundBytes(const Strategy &strategy) {
  return evaluations_.lowerBoundBytes(
      space_.settingsOf(strategy.with(kMicroBatches, std::min<size_t>(strategy[kMicroBatches], 1))
                            .with(kRecomputation, space_.lastLevel(strategy))));
}

// --- The frontier ---

/// Adds the strategy by the seconds of its fastest level.
LogicalResult Search::addToFrontier(const Strategy &strategy) {
  if (!reached_.insert(strategy).second)
    return success(); // on another path
  const FailureOr<size_t> fastest = fastestLevel(strategy);
  if (succeeded(fastest))
    frontier_.emplace(at(strategy, *fastest).seconds(), strategy);
  return fastest;
}

/// Adds a strategy that takes less memory than `from`, and at least as many seconds. If nothing of `from`
/// fits, the strategy is not evaluated until it is expanded.
LogicalResult Search::addNeighbour(const Strategy &from, const Strategy &to, double lowerBound) {
  if (anyLevelFits(from))
    return addToFrontier(to);
  if (reached_.insert(to).second)
    frontier_.emplace(lowerBound, to);
  return success();
}

LogicalResult Search::addShardings() {
  const auto isOfUse = [&](size_t value, ArrayRef<Strategy> together) {
    const Strategy before = Strategy().with(kSharding, value - 1);
    return !space_.values[kSharding][value].isPart || is_contained(together, before) ||
           (isEvaluated(before) && statesFit(before));
  };
  for (size_t value = 0; value < space_.size(kSharding);) {
    SmallVector<Strategy> together;
    for (; value < space_.size(kSharding) && together.size() < kShardingsAtOnce; ++value)
      if (isOfUse(value, together))
        together.push_back(Strategy().with(kSharding, value));
    if (failed(evaluate(together)))
      return failure();
    for (const Strategy &strategy : together)
      if (failed(addToFrontier(strategy)))
        return failure();
  }
  return success();
}

/// Smaller micro-batches do not help if states alone are too large.
LogicalResult Search::addSmallerMicroBatches(const Strategy &strategy, double lowerBound) {
  const size_t next = strategy[kMicroBatches] + 1;
  if (!statesFit(strategy) || next == space_.size(kMicroBatches))
    return success();
  return addNeighbour(strategy, strategy.with(kMicroBatches, next), lowerBound);
}

/// Offloads as many more kinds as are needed for the rest to fit, including the next one that is a relevant
/// share of the states. Optimizer states are offloaded if a step without recomputation does not fit; slower
/// kinds if nothing does.
LogicalResult Search::addOffloadedStates(const Strategy &strategy, double lowerBound) {
  constexpr int64_t kParts = 100;
  const int64_t states = residentStates(strategy, 0);
  int64_t left = states, moved = 0;
  for (size_t next = strategy[kStates] + 1; next < space_.size(kStates); ++next) {
    const int64_t bytes = firstOf(strategy).memory.*kOffloadKinds[next - 1].bytes;
    moved += bytes;
    left -= bytes;
    if (moved <= states / kParts || left > limit_)
      continue;
    if (next == 1 ? firstOf(strategy).fits(limit_) : anyLevelFits(strategy))
      return success();
    const Strategy more = strategy.with(kStates, next);
    const FailureOr<int64_t> bound = lowerBoundBytes(more);
    if (failed(bound))
      return failure();
    if (*bound <= limit_)
      return addNeighbour(strategy, more, lowerBound);
  }
  return success();
}

/// For a strategy that has not been evaluated: returns whether it fits. If so, it is in the frontier again,
/// by its seconds. `lowerBound` becomes the lower bound of its levels' seconds.
FailureOr<bool> Search::turnsOutToFit(const Strategy &strategy, double &lowerBound) {
  const size_t last = space_.lastLevel(strategy);
  // Once a strategy fits, the first level gives a bound for whether this one may be faster. It is evaluated
  // on the other processor at the same time.
  const bool bounds = best() && !space_.copies(strategy);
  if (failed(evaluateLevels(strategy, {0, last})) || failed(smallestLevelIfClose(strategy)))
    return failure();
  lowerBound = std::max(
      {lowerBound, at(strategy, last).seconds() / kMaxSlowdown, bounds ? at(strategy, 0).seconds() : 0});
  if (isTooSlow(lowerBound) || !anyLevelFits(strategy))
    return false;
  const FailureOr<size_t> fastest = fastestLevel(strategy);
  if (failed(fastest))
    return failure();
  frontier_.emplace(at(strategy, *fastest).seconds(), strategy);
  return true;
}

/// Whether another sharding takes fewer seconds and bytes. Settings that save bytes with one sharding save
/// them with the other.
bool Search::isDominated(const Strategy &strategy) const {
  const auto &[first, number] = *numbers_.lower_bound(strategy.unrecomputed());
  for (size_t sharding = 0; sharding < space_.size(kSharding); ++sharding)
    if (const auto other = numbers_.find(first.with(kSharding, sharding));
        other != numbers_.end() && evaluations_[other->second].dominates(evaluations_[number]))
      return true;
  return false;
}

/// If a step without recomputation does not fit, evaluates the strategy with offloaded activations as well.
/// Recomputed values are not copied, so that little is recomputed, as far as that fits. Offloading only
/// hidden copies takes more memory than offloading all, so that all are evaluated first.
LogicalResult Search::evaluateOffloadedActivations(const Strategy &strategy) {
  if (space_.size(kActivations) == 1 || space_.isPart(strategy) || !statesFit(strategy) ||
      firstOf(strategy).fits(limit_))
    return success();
  const Strategy hidden = strategy.with(kActivations, 1), all = strategy.with(kActivations, 2);
  const size_t last = space_.lastLevel(strategy), cheap = std::min<size_t>(1, last);
  if (failed(evaluateLevels(all, {cheap, last})))
    return failure();
  if (at(all, cheap).bytes() <= limit_ && failed(evaluate({hidden, hidden.with(kRecomputation, cheap), all})))
    return failure();
  const FailureOr<size_t> smallest = smallestLevelIfClose(all);
  if (failed(smallest))
    return failure();
  return fits(all, *smallest) && !fits(all, cheap) ? findLevelThatFits(all, cheap) : success();
}

LogicalResult Search::expand(const Strategy &strategy, double lowerBound) {
  const bool isNew = !isEvaluated(strategy);
  if (isNew) {
    const FailureOr<bool> fits = turnsOutToFit(strategy, lowerBound);
    if (failed(fits) || *fits || isTooSlow(lowerBound))
      return fits;
  }
  if (isDominated(strategy)) // more micro-batches cost more if parameters are gathered for each
    return addSmallerMicroBatches(strategy, lowerBound);
  // Offloading activations may be faster than recomputing them.
  if (failed(evaluateOffloadedActivations(strategy)))
    return failure();
  // Recomputed values are not offloaded, so that the last level may take more memory than earlier ones.
  if ((!isNew || space_.copiesActivationsAnyway) && statesFit(strategy)) {
    const FailureOr<size_t> fastest = fastestLevel(strategy);
    if (failed(fastest) ||
        (!isTooSlow(at(strategy, *fastest).seconds()) && failed(findLevelThatFits(strategy, *fastest))))
      return failure();
  }
  // If a strategy does not fit with groups of ranks, sharding over all ranks is better than groups with more
  // transfers.
  if (space_.isPart(strategy) && !anyLevelFits(strategy))
    return success();
  return failure(failed(addOffloadedStates(strategy, lowerBound)) ||
                 failed(addSmallerMicroBatches(strategy, lowerBound)));
}

LogicalResult Search::findFastest() {
  if (failed(addShardings()))
    return failure();
  while (!frontier_.empty()) {
    const auto [lowerBound, strategy] = *frontier_.begin();
    frontier_.erase(frontier_.begin());
    if (isTooSlow(lowerBound))
      break;
    if (failed(expand(strategy, lowerBound)))
      return failure();
  }
  return evaluateOtherShardings();
}

/// If states are sharded over more ranks, there is less to offload, though more is gathered. Therefore the
/// best strategy's offloading is evaluated with the other shardings as well, if the resident states may fit.
/// If none are resident, fewer shards only mean more fetches per rank.
LogicalResult Search::evaluateOtherShardings() {
  const std::optional<size_t> fastest = best();
  if (!fastest)
    return success();
  const Strategy found = strategyOf(*fastest);
  if (found[kStates] == std::size(kOffloadKinds) || (found[kStates] == 0 && found[kActivations] == 0))
    return success();
  SmallVector<Strategy> others;
  for (size_t sharding = 0; sharding < space_.size(kSharding); ++sharding) {
    const Strategy resident = Strategy().with(kSharding, sharding), other = found.with(kSharding, sharding);
    if (!space_.isPart(other) && residentStates(resident, found[kStates]) <= limit_)
      others.append({other.unrecomputed(), other});
  }
  return evaluate(others);
}

// --- The smallest ---

LogicalResult Search::findSmallest() {
  std::vector<Strategy> strategies;
  for (size_t sharding = space_.size(kSharding); sharding-- > 0;) { // the most sharded takes the least memory
    const Strategy strategy = Strategy()
                                  .with(kSharding, sharding)
                                  .with(kMicroBatches, space_.size(kMicroBatches) - 1)
                                  .with(kStates, space_.size(kStates) - 1);
    if (!space_.isPart(strategy)) // groups take more memory than all ranks
      strategies.push_back(strategy);
  }
  if (failed(evaluate(candidatesForSmallest(strategies.front()))) ||
      failed(evaluateOthersThatMayBeSmaller(strategies)))
    return failure();
  if (space_.copiesActivationsAnyway)
    for (const Strategy &strategy : strategies)
      if (failed(fastestLevel(strategy)))
        return failure();
  return best() ? success() : LogicalResult(smallestLevel(strategyOf(evaluations_.smallest()), kLastLevels));
}

/// If little but an op's operands is in memory, the most recomputation may take more memory than a little.
/// With fewer kinds offloaded there are fewer candidates, because these strategies are the smallest only if
/// states are small.
std::vector<Strategy> Search::candidatesForSmallest(ArrayRef<Strategy> strategies) const {
  std::vector<Strategy> candidates;
  const auto add = [&](const Strategy &strategy, std::initializer_list<size_t> levels) {
    for (const size_t level : levels)
      candidates.push_back(strategy.with(kRecomputation, level));
  };
  for (const Strategy &strategy : strategies) {
    const size_t last = space_.lastLevel(strategy), cheap = std::min<size_t>(1, last);
    const Strategy offloaded = strategy.with(kActivations, space_.size(kActivations) - 1);
    if (strategy[kStates] + 1 < space_.size(kStates)) {
      add(strategy, {last});
      add(offloaded, {cheap});
      continue;
    }
    add(strategy, {0, cheap, last});
    if (space_.size(kActivations) > 1)
      add(offloaded, {0, cheap, last});
  }
  return candidates;
}

/// Evaluates the other shardings, and those with fewer kinds offloaded: if states are small, the buffers for
/// offloading them may be larger. If the smallest plan so far does not fit into the host, evaluates all other
/// shardings.
LogicalResult Search::evaluateOthersThatMayBeSmaller(ArrayRef<Strategy> strategies) {
  const Evaluation smallest = evaluations_[evaluations_.smallest()];
  if (smallest.hostLeft < 0)
    return evaluate(candidatesForSmallest(strategies.drop_front()));
  std::vector<Strategy> others;
  for (const Strategy &all : strategies)
    for (size_t offloaded = 0; offloaded < space_.size(kStates); ++offloaded) {
      const Strategy strategy = all.with(kStates, offloaded);
      const Strategy resident = Strategy().with(kSharding, strategy[kSharding]);
      if (strategy == strategies.front() || residentStates(resident, offloaded) >= smallest.bytes())
        continue;
      const FailureOr<int64_t> bound = lowerBoundBytes(strategy);
      if (failed(bound))
        return failure();
      if (*bound < smallest.bytes())
        others.push_back(strategy);
    }
  return evaluate(candidatesForSmallest(others));
}

} // namespace trainc
