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

std::optional<size_t> Evaluations::fastest(int64_t limit) const {
  std::optional<size_t> fastest;
  for (size_t number = 0; number < size(); ++number)
    if (all_[number].plan.fits(limit) &&
        (!fastest || all_[number].plan.seconds() < all_[*fastest].plan.seconds()))
      fastest = number;
  return fastest;
}

size_t Evaluations::smallest() const {
  return size_t(min_element(all_, [](const auto &a, const auto &b) { return a.plan.isSmaller(b.plan); }) -
                all_.begin());
}

} // namespace trainc
