#include "lib/Planner/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace llvm;

namespace trainc {

/// Number of shardings of the states that are evaluated at a time.
static constexpr size_t kShardingsAtOnce = 2;

/// Maximum ratio between the last level's seconds and those of other levels. The last level recomputes the
/// forward, which is a third of a step, and its gathers are exposed if it does not prefetch.
static constexpr double kMaxSlowdown = 3;

/// Number of last levels among which findSmallest() looks for the smallest.
static constexpr size_t kLastLevels = 6;

/// Minimum ratio of a strategy's bytes to a limit that is far below it.
static constexpr int64_t kFar = 2;

// --- The frontier ---

/// Adds the strategy to the frontier. Its lower bound is the seconds of its fastest level.
LogicalResult Search::addToFrontier(const Strategy &strategy) {
  if (!reached_.insert(strategy).second)
    return success(); // reached on another path
  const FailureOr<size_t> fastest = levels_.findFastest(strategy);
  if (succeeded(fastest))
    frontier_.emplace(table_.at(strategy, *fastest).seconds(), strategy);
  return fastest;
}

/// Adds strategy `to`, which takes less memory than `from` and at least as many seconds, to the frontier. If
/// no level of `from` fits, `to` is not evaluated until it is expanded.
LogicalResult Search::addNeighbour(const Strategy &from, const Strategy &to, double lowerBound) {
  if (table_.anyLevelFits(from))
    return addToFrontier(to);
  if (reached_.insert(to).second)
    frontier_.emplace(lowerBound, to);
  return success();
}

LogicalResult Search::addShardings() {
  const auto isOfUse = [&](size_t value, ArrayRef<Strategy> together) {
    const Strategy before = Strategy().with(kSharding, value - 1);
    return !space_.values[kSharding][value].isPart || is_contained(together, before) ||
           (table_.isEvaluated(before) && table_.statesFit(before));
  };
  for (size_t value = 0; value < space_.size(kSharding);) {
    SmallVector<Strategy> together;
    for (; value < space_.size(kSharding) && together.size() < kShardingsAtOnce; ++value)
      if (isOfUse(value, together))
        together.push_back(Strategy().with(kSharding, value));
    if (failed(table_.evaluate(together)))
      return failure();
    for (const Strategy &strategy : together)
      if (failed(addToFrontier(strategy)))
        return failure();
    if (isFarAboveLimit(table_[Strategy()].memory.minUnplanned)) // which is the same for all shardings
      return success();
  }
  return success();
}

bool Search::isFarAboveLimit(int64_t bytes) const { return bytes / kFar > limit_; }

/// Returns strategies of which one takes the fewest bytes of all, or not many more: with everything offloaded
/// and the most recomputation, and with activations offloaded instead.
std::vector<Strategy> Search::usuallySmallest() const {
  const Strategy strategy = smallestOfEachSharding().front();
  const size_t last = space_.lastLevel(strategy), cheap = std::min<size_t>(1, last);
  const Strategy offloaded = strategy.with(kActivations, space_.size(kActivations) - 1);
  return {strategy.with(kRecomputation, last), offloaded.with(kRecomputation, cheap),
          offloaded.with(kRecomputation, last)};
}

/// Whether the limit is far below the evaluated shardings, which offload and recompute nothing, and below the
/// strategies that usually take the fewest bytes. Nothing fits then: others take fewer bytes, but hardly half
/// as many. Strategies that offload more than the host has room for say nothing of those that offload less.
FailureOr<bool> Search::areAllFarAboveLimit() {
  for (const EvaluatedStrategy &each : table_.all())
    if (!isFarAboveLimit(each.plan.bytes()))
      return false;
  const std::vector<Strategy> strategies = usuallySmallest();
  const ArrayRef<Strategy> first = ArrayRef(strategies).take_front(),
                           others = ArrayRef(strategies).drop_front();
  for (const ArrayRef<Strategy> each : {first, others}) {
    const FailureOr<std::vector<Evaluation>> plans = table_.probe(each);
    if (failed(plans))
      return failure();
    if (!all_of(*plans,
                [&](const Evaluation &plan) { return isFarAboveLimit(plan.bytes()) && plan.hostLeft >= 0; }))
      return false;
  }
  return true;
}

/// Whether the search may find a strategy that fits. With a sharding at least, the limit must have room for
/// the states that cannot be offloaded and for the unplanned memory that no setting reduces.
FailureOr<bool> Search::mayAnyFit() {
  bool hasRoom = false;
  for (size_t value = 0; value < space_.size(kSharding); ++value) {
    const Strategy strategy = Strategy().with(kSharding, value);
    hasRoom |= table_.isEvaluated(strategy) && table_.residentStates(strategy, space_.size(kStates) - 1) +
                                                       table_.firstOf(strategy).memory.minUnplanned <=
                                                   limit_;
  }
  if (!hasRoom)
    return false;
  const FailureOr<bool> areFar = areAllFarAboveLimit();
  if (failed(areFar))
    return failure();
  return !*areFar;
}

/// Adds the strategy with the next smaller micro-batches, unless states alone exceed the limit.
LogicalResult Search::addSmallerMicroBatches(const Strategy &strategy, double lowerBound) {
  const size_t next = strategy[kMicroBatches] + 1;
  if (!table_.statesFit(strategy) || next == space_.size(kMicroBatches))
    return success();
  return addNeighbour(strategy, strategy.with(kMicroBatches, next), lowerBound);
}

/// Adds the strategy with as many more kinds of states offloaded as are needed for the other states to fit.
/// The kinds that it adds are more than a hundredth of the states. Optimizer states are offloaded if a step
/// without recomputation does not fit. The other kinds, which are slower, are offloaded if no level fits.
LogicalResult Search::addOffloadedStates(const Strategy &strategy, double lowerBound) {
  constexpr int64_t kParts = 100;
  const int64_t states = table_.residentStates(strategy, 0);
  int64_t left = states, moved = 0;
  for (size_t next = strategy[kStates] + 1; next < space_.size(kStates); ++next) {
    const int64_t bytes = table_.firstOf(strategy).memory.*kOffloadStates[next - 1].bytes;
    moved += bytes;
    left -= bytes;
    if (moved <= states / kParts || left > limit_)
      continue;
    const bool optimizerOnly = next == 1;
    if (optimizerOnly ? table_.firstOf(strategy).fits(limit_) : table_.anyLevelFits(strategy))
      return success();
    const Strategy more = strategy.with(kStates, next);
    const FailureOr<int64_t> bound = table_.lowerBoundBytes(more);
    if (failed(bound))
      return failure();
    if (*bound <= limit_)
      return addNeighbour(strategy, more, lowerBound);
  }
  return success();
}

/// Evaluates a strategy that was added without evaluation. Returns whether it fits; if it does, adds it to
/// the frontier again, with the seconds of its fastest level. Raises `lowerBound` to a lower bound of the
/// seconds of its levels.
FailureOr<bool> Search::turnsOutToFit(const Strategy &strategy, double &lowerBound) {
  const size_t last = space_.lastLevel(strategy);
  // Once another strategy fits, the seconds of the first level tell whether this one may be faster. The first
  // level is evaluated in parallel with the last.
  const bool bounds = table_.fastest() && !space_.copies(strategy);
  if (failed(levels_.evaluate(strategy, {0, last})) || failed(levels_.findSmallestIfClose(strategy)))
    return failure();
  lowerBound = std::max({lowerBound, table_.at(strategy, last).seconds() / kMaxSlowdown,
                         bounds ? table_.at(strategy, 0).seconds() : 0});
  if (table_.isTooSlow(lowerBound) || !table_.anyLevelFits(strategy))
    return false;
  const FailureOr<size_t> fastest = levels_.findFastest(strategy);
  if (failed(fastest))
    return failure();
  frontier_.emplace(table_.at(strategy, *fastest).seconds(), strategy);
  return true;
}

/// If a step without recomputation does not fit, evaluates the strategy with offloaded activations as well.
/// Evaluates offloading of all activations first, because it takes the least memory. Prefers the least
/// recomputation that fits.
LogicalResult Search::evaluateOffloadedActivations(const Strategy &strategy) {
  if (space_.size(kActivations) == 1 || space_.isPart(strategy) || !table_.statesFit(strategy) ||
      table_.firstOf(strategy).fits(limit_))
    return success();
  const Strategy hidden = strategy.with(kActivations, 1), all = strategy.with(kActivations, 2);
  const size_t last = space_.lastLevel(strategy), cheap = std::min<size_t>(1, last);
  if (failed(levels_.evaluate(all, {cheap, last})))
    return failure();
  if (table_.at(all, cheap).bytes() <= limit_ &&
      failed(table_.evaluate({hidden, hidden.with(kRecomputation, cheap), all})))
    return failure();
  const FailureOr<size_t> smallest = levels_.findSmallestIfClose(all);
  if (failed(smallest))
    return failure();
  return table_.fits(all, *smallest) && !table_.fits(all, cheap) ? levels_.findFirstThatFits(all, cheap)
                                                                 : success();
}

LogicalResult Search::expand(const Strategy &strategy, double lowerBound) {
  const bool isNew = !table_.isEvaluated(strategy);
  if (isNew) {
    const FailureOr<bool> fits = turnsOutToFit(strategy, lowerBound);
    if (failed(fits))
      return failure();
    if (*fits || table_.isTooSlow(lowerBound))
      return success();
  }
  // Smaller micro-batches may still help: with them, the other sharding may be slower, because it gathers
  // parameters for each.
  if (table_.isDominated(strategy))
    return addSmallerMicroBatches(strategy, lowerBound);
  // Offloading activations may be faster than recomputing them.
  if (failed(evaluateOffloadedActivations(strategy)))
    return failure();
  // The last level may take more memory than earlier ones, because recomputed values are not offloaded.
  if ((!isNew || space_.copiesActivationsAnyway) && table_.statesFit(strategy)) {
    const FailureOr<size_t> fastest = levels_.findFastest(strategy);
    if (failed(fastest) || (!table_.isTooSlow(table_.at(strategy, *fastest).seconds()) &&
                            failed(levels_.findFirstThatFits(strategy, *fastest))))
      return failure();
  }
  // If a strategy that shards within groups of ranks does not fit, sharding over all ranks saves memory at a
  // lower cost than offloading or smaller micro-batches.
  if (space_.isPart(strategy) && !table_.anyLevelFits(strategy))
    return success();
  return failure(failed(addOffloadedStates(strategy, lowerBound)) ||
                 failed(addSmallerMicroBatches(strategy, lowerBound)));
}

LogicalResult Search::findFastest() {
  if (failed(addShardings()))
    return failure();
  const FailureOr<bool> mayFit = mayAnyFit();
  if (failed(mayFit) || !*mayFit)
    return mayFit;
  while (!frontier_.empty()) {
    const auto [lowerBound, strategy] = *frontier_.begin();
    frontier_.erase(frontier_.begin());
    if (table_.isTooSlow(lowerBound))
      break;
    if (failed(expand(strategy, lowerBound)))
      return failure();
  }
  return evaluateOtherShardings();
}

/// Evaluates the offloading of the best strategy with the other shardings, if their resident states may fit.
/// If states are sharded over more ranks, less is offloaded, but more is gathered. If all states are
/// offloaded, there is nothing to gain: fewer shards only mean more fetches per rank.
LogicalResult Search::evaluateOtherShardings() {
  const std::optional<size_t> fastest = table_.fastest();
  if (!fastest)
    return success();
  const Strategy found = table_.strategyOf(*fastest);
  if (found[kStates] == kOffloadStates.size() || (found[kStates] == 0 && found[kActivations] == 0))
    return success();
  SmallVector<Strategy> others;
  for (size_t sharding = 0; sharding < space_.size(kSharding); ++sharding) {
    const Strategy resident = Strategy().with(kSharding, sharding), other = found.with(kSharding, sharding);
    if (!space_.isPart(other) && table_.residentStates(resident, found[kStates]) <= limit_)
      others.append({other.unrecomputed(), other});
  }
  return table_.evaluate(others);
}

// --- The smallest ---

/// Returns the smallest micro-batches with all states offloaded, for each sharding, the most sharded first,
/// which takes the least memory.
std::vector<Strategy> Search::smallestOfEachSharding() const {
  std::vector<Strategy> strategies;
  for (size_t sharding = space_.size(kSharding); sharding-- > 0;) {
    const Strategy strategy = Strategy()
                                  .with(kSharding, sharding)
                                  .with(kMicroBatches, space_.size(kMicroBatches) - 1)
                                  .with(kStates, space_.size(kStates) - 1);
    if (!space_.isPart(strategy)) // sharding within groups takes more memory than over all ranks
      strategies.push_back(strategy);
  }
  return strategies;
}

LogicalResult Search::findSmallest() {
  const FailureOr<bool> areFar = areAllFarAboveLimit();
  if (failed(areFar))
    return failure();
  if (*areFar)
    return table_.evaluate(usuallySmallest());
  const std::vector<Strategy> strategies = smallestOfEachSharding();
  if (failed(table_.evaluate(candidatesForSmallest(strategies.front()))) ||
      failed(evaluateOthersThatMayBeSmaller(strategies)))
    return failure();
  if (space_.copiesActivationsAnyway)
    for (const Strategy &strategy : strategies)
      if (failed(levels_.findFastest(strategy)))
        return failure();
  return table_.fastest() ? success() : LogicalResult(levels_.findSmallest(table_.smallest(), kLastLevels));
}

/// Returns each strategy with several levels: if hardly more than the operands of one op is in memory, the
/// last level may take more memory than an earlier one. A strategy that offloads fewer kinds of states has
/// fewer candidates, because it can be the smallest only if states are small.
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

/// Evaluates the other shardings, also with fewer kinds of states offloaded: if states are small, the buffers
/// for offloading may take more memory than the states. If the smallest plan so far exceeds the host's
/// memory, evaluates all other shardings with all kinds offloaded.
LogicalResult Search::evaluateOthersThatMayBeSmaller(ArrayRef<Strategy> strategies) {
  const Evaluation smallest = table_[table_.smallest()];
  if (smallest.hostLeft < 0)
    return table_.evaluate(candidatesForSmallest(strategies.drop_front()));
  std::vector<Strategy> others;
  for (const Strategy &all : strategies)
    for (size_t offloaded = 0; offloaded < space_.size(kStates); ++offloaded) {
      const Strategy strategy = all.with(kStates, offloaded);
      const Strategy resident = Strategy().with(kSharding, strategy[kSharding]);
      if (strategy == strategies.front() || table_.residentStates(resident, offloaded) >= smallest.bytes())
        continue;
      const FailureOr<int64_t> bound = table_.lowerBoundBytes(strategy);
      if (failed(bound))
        return failure();
      if (*bound < smallest.bytes())
        others.push_back(strategy);
    }
  return table_.evaluate(candidatesForSmallest(others));
}

} // namespace trainc
