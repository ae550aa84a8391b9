#include "lib/Planner/LevelSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace trainc {

LogicalResult LevelSearch::evaluate(const Strategy &strategy, ArrayRef<size_t> levels) {
  SmallVector<Strategy> strategies;
  for (const size_t level : levels)
    strategies.push_back(strategy.with(kRecomputation, level));
  return table_.evaluate(strategies);
}

// --- The fastest ---

/// Evaluates the levels and returns the fastest, the first of equally fast ones.
FailureOr<size_t> LevelSearch::fastestOf(const Strategy &strategy, ArrayRef<size_t> levels) {
  if (failed(evaluate(strategy, levels)))
    return failure();
  return *min_element(levels, [&](size_t a, size_t b) {
    return table_.at(strategy, a).seconds() < table_.at(strategy, b).seconds();
  });
}

FailureOr<size_t> LevelSearch::findFastest(const Strategy &strategy) {
  if (const auto known = fastest_.find(strategy); known != fastest_.end())
    return known->second;
  const FailureOr<size_t> found =
      space_.copies(strategy) ? fastestIfCopied(strategy) : fastestOf(strategy, {0});
  if (succeeded(found))
    fastest_[strategy] = *found;
  return found;
}

/// Begins at the fastest of the first two levels and the last. If its neighbour is faster, continues in the
/// direction of the neighbour. The search ends early if no level is likely to be faster than the best
/// strategy. The estimate assumes that each further level saves as much as the neighbour; some save more,
/// others lose.
FailureOr<size_t> LevelSearch::fastestIfCopied(const Strategy &strategy) {
  const size_t last = space_.lastLevel(strategy), second = std::min<size_t>(1, last);
  // Also evaluates the second level's neighbour, which is requested next if the second level is the fastest.
  if (failed(evaluate(strategy, {0, last, second, std::min<size_t>(2, last)})))
    return failure();
  const FailureOr<size_t> end = fastestOf(strategy, {0, second, last});
  if (failed(end) || *end == 0)
    return end;
  const size_t neighbour = *end == last ? *end - 1 : *end + 1;
  const FailureOr<size_t> faster = fastestOf(strategy, {*end, neighbour});
  if (failed(faster) || *faster == *end)
    return faster;
  const double seconds = table_.at(strategy, neighbour).seconds(),
               saved = table_.at(strategy, *end).seconds() - seconds;
  if (table_.isTooSlow(seconds - saved * double(space_.size(kRecomputation))))
    return faster;
  return *end == last ? fastestBetween(strategy, 1, neighbour) : fastestBetween(strategy, neighbour, last);
}

/// Searches by thirds (ternary search), because seconds fall and then rise.
FailureOr<size_t> LevelSearch::fastestBetween(const Strategy &strategy, size_t first, size_t last) {
  while (last - first > 2) {
    const size_t third = (last - first) / 3, before = first + third, after = last - third;
    const FailureOr<size_t> faster = fastestOf(strategy, {before, after});
    if (failed(faster))
      return failure();
    (*faster == before ? last : first) = *faster == before ? after : before;
  }
  return fastestOf(strategy, {first, first + (last - first) / 2, last});
}

// --- The smallest ---

FailureOr<size_t> LevelSearch::findSmallest(const Strategy &strategy, size_t count) {
  constexpr size_t kFirst = 2; // earlier levels recompute no block
  const size_t last = space_.lastLevel(strategy);
  SmallVector<size_t> levels = {last};
  // The level that gathers nothing ahead is an additional last one, and has no such neighbour.
  if (!space_.lastGathersNothing || last + 1 < space_.size(kRecomputation))
    while (levels.size() < count && levels.back() > kFirst)
      levels.push_back(levels.back() - 1);
  if (failed(evaluate(strategy, levels)))
    return failure();
  return *min_element(
      levels, [&](size_t a, size_t b) { return table_.at(strategy, a).isSmaller(table_.at(strategy, b)); });
}

FailureOr<size_t> LevelSearch::findSmallestIfClose(const Strategy &strategy) {
  // The last level is close if it exceeds the limit by at most 1 / kParts of the bytes that recomputation
  // saves.
  constexpr int64_t kParts = 8;
  const size_t last = space_.lastLevel(strategy);
  if (failed(evaluate(strategy, {last})))
    return failure();
  const int64_t saved = table_.firstOf(strategy).bytes() - table_.at(strategy, last).bytes();
  const int64_t missing = -table_.at(strategy, last).left(limit_);
  return missing > 0 && missing <= saved / kParts ? findSmallest(strategy, 2) : last;
}

// --- The first that fits ---

/// Evaluates one or two levels between one that does not fit and one that does. Returns whether to continue.
/// Bytes are almost linear in levels, so the guess interpolates between the two levels. The level before the
/// guess is evaluated as well. The search is over if even `tooLittle` is too slow, because seconds rise from
/// the fastest level on.
FailureOr<bool> LevelSearch::narrow(const Strategy &strategy, size_t &tooLittle, size_t &enough,
                                    bool byHalves) {
  const auto missing = double(-table_.at(strategy, tooLittle).left(limit_));
  const auto left = double(table_.at(strategy, enough).left(limit_));
  const double share = byHalves ? 0.5 : missing / (missing + left);
  const size_t guess = tooLittle + 1 + size_t(share * double(enough - tooLittle - 1));
  SmallVector<size_t> levels;
  for (const size_t level : {guess - 1, guess})
    if (level > tooLittle && level < enough)
      levels.push_back(level);
  if (failed(evaluate(strategy, levels)))
    return failure();
  for (const size_t level : levels) {
    (table_.fits(strategy, level) ? enough : tooLittle) = level;
    if (enough == level)
      break;
  }
  return enough > tooLittle + 1 && !table_.isTooSlow(table_.at(strategy, tooLittle).seconds());
}

LogicalResult LevelSearch::findFirstThatFits(const Strategy &strategy, size_t first) {
  const size_t last = space_.lastLevel(strategy);
  // The step from the first level to the next is larger than others.
  if (failed(evaluate(strategy, {first, std::min(std::max<size_t>(first, 1), last), last})))
    return failure();
  const FailureOr<size_t> end = findSmallestIfClose(strategy);
  if (failed(end))
    return failure();
  if (*end <= first || table_.fits(strategy, first) ||
      !table_.fits(strategy, *end)) // the fastest level may be the last one
    return success();
  size_t tooLittle = first, enough = *end;
  if (tooLittle == 0 && enough > 1)
    (table_.fits(strategy, 1) ? enough : tooLittle) = 1;
  FailureOr<bool> goesOn = enough - tooLittle > 1;
  for (bool byHalves = false; succeeded(goesOn) && *goesOn;) {
    const size_t before = enough - tooLittle;
    goesOn = narrow(strategy, tooLittle, enough, byHalves);
    byHalves = 3 * (enough - tooLittle) > 2 * before; // interpolation converges too slowly
  }
  return goesOn;
}

} // namespace trainc
