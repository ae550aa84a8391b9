#include "lib/Planner/Evaluate.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace trainc {

FailureOr<std::vector<size_t>> Evaluations::add(ArrayRef<Settings> strategies) {
  std::vector<Settings> missing;
  std::vector<size_t> numbers;
  for (const Settings &strategy : strategies) {
    const auto [known, isNew] = numbers_.try_emplace(strategy, size() + missing.size());
    if (isNew)
      missing.push_back(strategy);
    numbers.push_back(known->second);
  }
  if (missing.empty())
    return numbers;
  FailureOr<std::vector<Evaluation>> made = evaluate_.evaluate(missing);
  if (failed(made))
    return failure();
  for (auto [settings, plan] : zip_equal(missing, *made))
    all_.push_back({settings, plan});
  return numbers;
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
