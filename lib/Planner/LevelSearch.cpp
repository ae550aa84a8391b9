// Search along one dimension: the levels of recomputation of one strategy.
#include "lib/Planner/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace trainc {

LogicalResult Search::evaluateLevels(const Strategy &strategy, ArrayRef<size_t> levels) {
  SmallVector<Strategy> strategies;
  for (const size_t level : levels)
    strategies.push_back(strategy.with(kRecomputation, level));
  return evaluate(strategies);
}

// --- The fastest ---

/// Evaluates the levels and returns the fastest, the first of equally fast ones.
FailureOr<size_t> Search::fastestLevelOf(const Strategy &strategy, ArrayRef<size_t> levels) {
  if (failed(evaluateLevels(strategy, levels)))
    return failure();
  return *min_element(
      levels, [&](size_t a, size_t b) { return at(strategy, a).seconds() < at(strategy, b).seconds(); });
}

/// Returns the fastest level, evaluated. Recomputation takes time, but if the step copies offloaded
/// activations, it may save more: fewer activations are copied, and copies overlap with more computation.
FailureOr<size_t> Search::fastestLevel(const Strategy &strategy) {
  if (const auto known = fastestLevels_.find(strategy); known != fastestLevels_.end())
    return known->second;
  const FailureOr<size_t> found =
      space_.copies(strategy) ? fastestLevelIfCopied(strategy) : fastestLevelOf(strategy, {0});
  if (succeeded(found))
    fastestLevels_[strategy] = *found;
  return found;
}

/// Begins at the fastest of the first two levels and the last, and continues while a neighbour is faster. If
/// no level can become faster than the best strategy, the search ends early. This is estimated generously, as
/// if each level saved as much as the neighbour; some save more, others lose.
FailureOr<size_t> Search::fastestLevelIfCopied(const Strategy &strategy) {
  const size_t last = space_.lastLevel(strategy), second = std::min<size_t>(1, last);
  // Also evaluates the second level's neighbour, which is requested next if the second level is the fastest.
  if (failed(evaluateLevels(strategy, {0, last, second, std::min<size_t>(2, last)})))
    return failure();
  const FailureOr<size_t> end = fastestLevelOf(strategy, {0, second, last});
  if (failed(end) || *end == 0)
    return end;
  const size_t neighbour = *end == last ? *end - 1 : *end + 1;
  const FailureOr<size_t> faster = fastestLevelOf(strategy, {*end, neighbour});
  if (failed(faster) || *faster == *end)
    return faster;
  const double seconds = at(strategy, neighbour).seconds(), saved = at(strategy, *end).seconds() - seconds;
  if (isTooSlow(seconds - saved * double(space_.size(kRecomputation))))
    return faster;
  return *end == last ? fastestLevelBetween(strategy, 1, neighbour)
                      : fastestLevelBetween(strategy, neighbour, last);
}

/// Searches by thirds: seconds fall and then rise.
FailureOr<size_t> Search::fastestLevelBetween(const Strategy &strategy, size_t first, size_t last) {
  while (last - first > 2) {
    const size_t third = (last - first) / 3, before = first + third, after = last - third;
    const FailureOr<size_t> faster = fastestLevelOf(strategy, {before, after});
    if (failed(faster))
      return failure();
    (*faster == before ? last : first) = *faster == before ? after : before;
  }
  return fastestLevelOf(strategy, {first, first + (last - first) / 2, last});
}

// --- The smallest ---

/// Evaluates the last `count` levels and returns the one with the fewest bytes. It need not be the last,
/// because recomputing a block takes memory.
FailureOr<size_t> Search::smallestLevel(const Strategy &strategy, size_t count) {
  constexpr size_t kFirst = 2; // earlier levels recompute no block
  const size_t last = space_.lastLevel(strategy);
  SmallVector<size_t> levels = {last};
  // The level that gathers nothing ahead is an additional last one, and has no such neighbour.
  if (!space_.lastGathersNothing || last + 1 < space_.size(kRecomputation))
    while (levels.size() < count && levels.back() > kFirst)
      levels.push_back(levels.back() - 1);
  if (failed(evaluateLevels(strategy, levels)))
    return failure();
  return *min_element(levels, [&](size_t a, size_t b) { return at(strategy, a).isSmaller(at(strategy, b)); });
}

/// Evaluates the last level, and also the one before if the last exceeds the limit by so little that it may
/// fit. Returns the one with the fewest bytes.
FailureOr<size_t> Search::smallestLevelIfClose(const Strategy &strategy) {
  constexpr int64_t kParts = 8; // of the bytes that recomputation saves
  const size_t last = space_.lastLevel(strategy);
  if (failed(evaluateLevels(strategy, {last})))
    return failure();
  const int64_t saved = firstOf(strategy).bytes() - at(strategy, last).bytes();
  const int64_t missing = -at(strategy, last).left(limit_);
  return missing > 0 && missing <= saved / kParts ? smallestLevel(strategy, 2) : last;
}

// --- The first that fits ---

/// Evaluates one or two levels between one that does not fit and one that does. Returns whether to continue.
/// Bytes are almost linear in levels, so that the guess interpolates between the two, and the level before
/// the guess is evaluated as well. Seconds rise from the fastest level on.
FailureOr<bool> Search::narrow(const Strategy &strategy, size_t &tooLittle, size_t &enough, bool byHalves) {
  const auto missing = double(-at(strategy, tooLittle).left(limit_));
  const auto left = double(at(strategy, enough).left(limit_));
  const double share = byHalves ? 0.5 : missing / (missing + left);
  const size_t guess = tooLittle + 1 + size_t(share * double(enough - tooLittle - 1));
  SmallVector<size_t> levels;
  for (const size_t level : {guess - 1, guess})
    if (level > tooLittle && level < enough)
      levels.push_back(level);
  if (failed(evaluateLevels(strategy, levels)))
    return failure();
  for (const size_t level : levels) {
    (fits(strategy, level) ? enough : tooLittle) = level;
    if (enough == level)
      break;
  }
  return enough > tooLittle + 1 && !isTooSlow(at(strategy, tooLittle).seconds());
}

/// Evaluates the first level after `first` that fits, if there is one, unless it is slower than the best
/// strategy.
LogicalResult Search::findLevelThatFits(const Strategy &strategy, size_t first) {
  const size_t last = space_.lastLevel(strategy);
  // The step from the first level to the next is larger than others.
  if (failed(evaluateLevels(strategy, {first, std::min(std::max<size_t>(first, 1), last), last})))
    return failure();
  const FailureOr<size_t> end = smallestLevelIfClose(strategy);
  if (failed(end))
    return failure();
  if (*end <= first || fits(strategy, first) ||
      !fits(strategy, *end)) // the fastest level may be the last one
    return success();
  size_t tooLittle = first, enough = *end;
  if (tooLittle == 0 && enough > 1)
    (fits(strategy, 1) ? enough : tooLittle) = 1;
  FailureOr<bool> goesOn = enough - tooLittle > 1;
  for (bool byHalves = false; succeeded(goesOn) && *goesOn;) {
    const size_t before = enough - tooLittle;
    goesOn = narrow(strategy, tooLittle, enough, byHalves);
    byHalves = 3 * (enough - tooLittle) > 2 * before; // interpolation converges too slowly
  }
  return goesOn;
}

} // namespace trainc
