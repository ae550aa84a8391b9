#include "lib/Pipelines/Planning.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace trainc {

void Planning::set(int64_t limit, std::vector<PlannedStrategy> tried, size_t decided) {
  const auto merit = [&](size_t number) {
    const CandidatePlan &plan = tried[number].plan;
    return std::tuple(number != decided, std::max<int64_t>(0, -plan.left(limit)), plan.step.total, number);
  };
  std::vector<size_t> order(tried.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return merit(a) < merit(b); });
  this->limit = limit;
  this->tried.clear();
  for (const size_t number : order)
    this->tried.push_back(std::move(tried[number]));
  fits = this->tried.front().plan.fits(limit);
}

llvm::json::Object planningJson(const Planning &planning) {
  return llvm::json::Object{{"memory_limit", planning.limit},
                            {"strategies", strategiesJson(planning.tried, planning.taken(), planning.limit)},
                            {"taken", planning.taken() - planning.tried.data()}};
}

} // namespace trainc
