#include "lib/Planner/StrategyTable.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace trainc {

std::vector<Settings> StrategyTable::settingsOf(ArrayRef<Strategy> strategies) const {
  std::vector<Settings> settings;
  for (const Strategy &strategy : strategies)
    settings.push_back(space_.settingsOf(strategy));
  return settings;
}

LogicalResult StrategyTable::evaluate(ArrayRef<Strategy> strategies) {
  const FailureOr<std::vector<size_t>> numbers = evaluations_.add(settingsOf(strategies));
  if (failed(numbers))
    return failure();
  for (auto [strategy, number] : zip_equal(strategies, *numbers))
    numbers_.try_emplace(strategy, number);
  return success();
}

FailureOr<std::vector<Evaluation>> StrategyTable::probe(ArrayRef<Strategy> strategies) {
  return evaluations_.probe(settingsOf(strategies));
}

Strategy StrategyTable::strategyOf(size_t number) const {
  return find_if(numbers_, [&](const auto &each) { return each.second == number; })->first;
}

const Evaluation &StrategyTable::firstOf(const Strategy &strategy) const {
  return evaluations_[numbers_.lower_bound(strategy.unrecomputed())->second];
}

bool StrategyTable::anyLevelFits(const Strategy &strategy) const {
  return std::any_of(numbers_.lower_bound(strategy.unrecomputed()),
                     numbers_.lower_bound(strategy.with(kRecomputation, space_.size(kRecomputation))),
                     [&](const auto &each) { return evaluations_[each.second].fits(limit_); });
}

bool StrategyTable::isTooSlow(double seconds) const {
  const std::optional<size_t> best = fastest();
  return best && seconds >= evaluations_[*best].seconds();
}

int64_t StrategyTable::residentStates(const Strategy &strategy, size_t offloaded) const {
  const MemoryReport &memory = firstOf(strategy).memory;
  int64_t bytes = memory.states();
  for (const OffloadKind &kind : kOffloadStates.first(offloaded))
    bytes -= memory.*kind.bytes;
  return bytes;
}

FailureOr<int64_t> StrategyTable::lowerBoundBytes(const Strategy &strategy) {
  return evaluations_.lowerBoundBytes(
      space_.settingsOf(strategy.with(kMicroBatches, std::min<size_t>(strategy[kMicroBatches], 1))
                            .with(kRecomputation, space_.lastLevel(strategy))));
}

bool StrategyTable::isDominated(const Strategy &strategy) const {
  const auto &[first, number] = *numbers_.lower_bound(strategy.unrecomputed());
  for (size_t sharding = 0; sharding < space_.size(kSharding); ++sharding)
    if (const auto other = numbers_.find(first.with(kSharding, sharding));
        other != numbers_.end() && evaluations_[other->second].dominates(evaluations_[number]))
      return true;
  return false;
}

} // namespace trainc
