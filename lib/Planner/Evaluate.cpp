#include "lib/Planner/Evaluate.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace trainc {

/// Adds the missing evaluations to `made_`.
LogicalResult Evaluations::make(ArrayRef<Settings> strategies) {
  std::vector<Settings> missing;
  for (const Settings &strategy : strategies)
    if (made_.count(strategy) == 0 && !is_contained(missing, strategy))
      missing.push_back(strategy);
  if (missing.empty())
    return success();
  const FailureOr<std::vector<Evaluation>> made = evaluate_.evaluate(missing);
  if (failed(made))
    return failure();
  for (auto [settings, plan] : zip_equal(missing, *made))
    made_.emplace(settings, plan);
  return success();
}

FailureOr<std::vector<size_t>> Evaluations::add(ArrayRef<Settings> strategies) {
  if (failed(make(strategies)))
    return failure();
  std::vector<size_t> numbers;
  for (const Settings &strategy : strategies) {
    const auto [known, isNew] = numbers_.try_emplace(strategy, size());
    if (isNew)
      all_.push_back({strategy, made_.at(strategy)});
    numbers.push_back(known->second);
  }
  return numbers;
}

FailureOr<std::vector<Evaluation>> Evaluations::probe(ArrayRef<Settings> strategies) {
  if (failed(make(strategies)))
    return failure();
  std::vector<Evaluation> plans;
  for (const Settings &strategy : strategies)
    plans.push_back(made_.at(strategy));
  return plans;
}

FailureOr<int64_t> Evaluations::lowerBoundBytes(const Settings &strategy) {
  if (const auto known = lowerBounds_.find(strategy); known != lowerBounds_.end())
    return known->second;
  const FailureOr<int64_t> bytes = evaluate_.lowerBoundBytes(strategy);
  if (succeeded(bytes))
    lowerBounds_[strategy] = *bytes;
  return bytes;
}

std::optional<size_t> fastest(ArrayRef<EvaluatedStrategy> strategies, int64_t limit) {
  std::optional<size_t> fastest;
  for (auto [number, each] : enumerate(strategies))
    if (each.plan.fits(limit) && (!fastest || each.plan.seconds() < strategies[*fastest].plan.seconds()))
      fastest = number;
  return fastest;
}

size_t smallest(ArrayRef<EvaluatedStrategy> strategies) {
  const auto *found =
      min_element(strategies, [](const auto &a, const auto &b) { return a.plan.isSmaller(b.plan); });
  return size_t(found - strategies.begin());
}

} // namespace trainc
