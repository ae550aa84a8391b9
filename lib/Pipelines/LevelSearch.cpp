#include "lib/Pipelines/LevelSearch.h"

#include "lib/Pipelines/Unsharding.h"

using namespace mlir;

namespace trainc {

FailureOr<size_t> LevelSearch::lastLevel(Cell cell) {
  FailureOr<const Candidates *> made = trials_.step(cell);
  if (failed(made))
    return failure();
  const bool gathersNothing = choices_.mayGatherLate && !isOpen((*made)->step(), {"prefetch"});
  return choices_.levels.size() - (gathersNothing ? 2 : 1);
}

FailureOr<size_t> LevelSearch::planSmallest(Cell cell, size_t count) {
  constexpr size_t kFirst = 2; // earlier levels recompute no block
  const FailureOr<size_t> last = lastLevel(cell);
  if (failed(last))
    return failure();
  SmallVector<size_t> levels = {*last};
  // The level that gathers nothing ahead is an additional last one, and has no such neighbour.
  if (!choices_.mayGatherLate || *last + 1 < choices_.levels.size())
    while (levels.size() < count && levels.back() > kFirst)
      levels.push_back(levels.back() - 1);
  if (failed(plan(cell, levels)))
    return failure();
  return *llvm::min_element(levels, [&](size_t a, size_t b) {
    return trials_[numberOf(cell, a)].plan.isSmaller(trials_[numberOf(cell, b)].plan);
  });
}

FailureOr<size_t> LevelSearch::planSmallestIfClose(Cell cell) {
  constexpr int64_t kParts = 8; // of the bytes that recomputation saves
  const FailureOr<size_t> last = lastLevel(cell);
  if (failed(last) || failed(plan(cell, {*last})))
    return failure();
  const size_t number = numberOf(cell, *last);
  const int64_t saved = trials_.bytes(trials_.firstOf(cell)) - trials_.bytes(number);
  const int64_t missing = -trials_.left(number);
  return missing > 0 && missing <= saved / kParts ? planSmallest(cell, 2) : last;
}

LogicalResult LevelSearch::plan(Cell cell, ArrayRef<size_t> levels) {
  std::vector<Trial> trials;
  for (const size_t level : levels)
    trials.push_back({cell, level});
  return trials_.plan(trials);
}

/// Plans the levels and returns the fastest, the first of equally fast ones.
FailureOr<size_t> LevelSearch::fastestOf(Cell cell, ArrayRef<size_t> levels) {
  if (failed(plan(cell, levels)))
    return failure();
  return *llvm::min_element(levels, [&](size_t a, size_t b) {
    return trials_.seconds(numberOf(cell, a)) < trials_.seconds(numberOf(cell, b));
  });
}

/// Searches by thirds: seconds fall and then rise.
FailureOr<size_t> LevelSearch::fastestBetween(Cell cell, size_t first, size_t last) {
  while (last - first > 2) {
    const size_t third = (last - first) / 3, before = first + third, after = last - third;
    const FailureOr<size_t> faster = fastestOf(cell, {before, after});
    if (failed(faster))
      return failure();
    (*faster == before ? last : first) = *faster == before ? after : before;
  }
  return fastestOf(cell, {first, first + (last - first) / 2, last});
}

/// Whether a level from the second of two neighbours on may be faster than the best plan. This is estimated
/// generously, as if each level of the program saved as much as the second; some save more, others lose.
bool LevelSearch::mayReachBest(Cell cell, size_t level, size_t neighbour) const {
  const double seconds = trials_.seconds(numberOf(cell, neighbour)),
               fall = trials_.seconds(numberOf(cell, level)) - seconds;
  return !trials_.takesLongerThanBest(seconds - fall * double(choices_.levels.size()));
}

FailureOr<size_t> LevelSearch::fastestLevel(Cell cell) {
  if (const auto known = fastest_.find(cell); known != fastest_.end())
    return known->second;
  const FailureOr<size_t> found = findFastest(cell);
  if (succeeded(found))
    fastest_[cell] = *found;
  return found;
}

FailureOr<size_t> LevelSearch::findFastest(Cell cell) {
  const FailureOr<size_t> last = lastLevel(cell);
  if (failed(last))
    return failure();
  if (!choices_.copies(cell))
    return fastestOf(cell, {0});
  const size_t second = std::min<size_t>(1, *last);
  // Also plans the second level's neighbour, which is requested next if the second level is the fastest.
  if (failed(plan(cell, {0, *last, second, std::min<size_t>(2, *last)})))
    return failure();
  const FailureOr<size_t> end = fastestOf(cell, {0, second, *last});
  if (failed(end) || *end == 0)
    return end;
  const size_t neighbour = *end == *last ? *end - 1 : *end + 1;
  const FailureOr<size_t> faster = fastestOf(cell, {*end, neighbour});
  if (failed(faster) || *faster == *end || !mayReachBest(cell, *end, neighbour))
    return faster;
  return *end == *last ? fastestBetween(cell, 1, neighbour) : fastestBetween(cell, neighbour, *last);
}

FailureOr<size_t> LevelSearch::planFastest(Cell cell) {
  const FailureOr<size_t> level = fastestLevel(cell);
  return succeeded(level) ? trials_.plan({cell, *level}) : level;
}

/// Whether a level between the two may be the fastest that fits: seconds rise from the fastest level on.
bool LevelSearch::mayBeFaster(Cell cell, size_t tooLittle, size_t enough) const {
  return enough > tooLittle + 1 && !trials_.takesLongerThanBest(trials_.seconds(numberOf(cell, tooLittle)));
}

/// Plans one or two levels between one that does not fit and one that does. Returns whether to continue.
/// Bytes are almost linear in levels, so that the guess interpolates between the two, and the level before
/// the guess is planned as well.
FailureOr<bool> LevelSearch::narrow(Cell cell, size_t &tooLittle, size_t &enough, bool byHalves) {
  const auto missing = double(-trials_.left(numberOf(cell, tooLittle)));
  const auto left = double(trials_.left(numberOf(cell, enough)));
  const double share = byHalves ? 0.5 : missing / (missing + left);
  const size_t guess = tooLittle + 1 + size_t(share * double(enough - tooLittle - 1));
  SmallVector<size_t> levels;
  for (const size_t level : {guess - 1, guess})
    if (level > tooLittle && level < enough)
      levels.push_back(level);
  if (failed(plan(cell, levels)))
    return failure();
  for (const size_t level : levels)
    if (trials_.fits(numberOf(cell, level))) {
      enough = level;
      break;
    } else {
      tooLittle = level;
    }
  return mayBeFaster(cell, tooLittle, enough);
}

LogicalResult LevelSearch::planUntilItFits(Cell cell) {
  const FailureOr<size_t> fastest = fastestLevel(cell);
  if (failed(fastest))
    return failure();
  const bool mayBeBest = !trials_.takesLongerThanBest(trials_.seconds(numberOf(cell, *fastest)));
  return mayBeBest ? planUntilItFits(cell, *fastest) : success();
}

LogicalResult LevelSearch::planUntilItFits(Cell cell, size_t first) {
  const FailureOr<size_t> last = lastLevel(cell);
  // The step from the first level to the next is larger than others.
  if (failed(last) || failed(plan(cell, {first, std::min(std::max<size_t>(first, 1), *last), *last})))
    return failure();
  const FailureOr<size_t> end = planSmallestIfClose(cell);
  if (failed(end))
    return failure();
  if (*end <= first) // the fastest level may be the last one
    return success();
  size_t tooLittle = first, enough = *end;
  if (trials_.fits(numberOf(cell, tooLittle)) || !trials_.fits(numberOf(cell, enough)))
    return success();
  if (tooLittle == 0 && enough > 1)
    (trials_.fits(numberOf(cell, 1)) ? enough : tooLittle) = 1;
  FailureOr<bool> goesOn = enough - tooLittle > 1;
  for (bool byHalves = false; succeeded(goesOn) && *goesOn;) {
    const size_t before = enough - tooLittle;
    goesOn = narrow(cell, tooLittle, enough, byHalves);
    byHalves = 3 * (enough - tooLittle) > 2 * before; // interpolation converges too slowly
  }
  return goesOn;
}

} // namespace trainc
