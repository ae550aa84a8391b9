#include "lib/Pipelines/Planning.h"

#include "base/units.h"
#include "lib/Pipelines/MemoryReport.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

using namespace mlir;
namespace json = llvm::json;

namespace trainc {

void Planning::set(int64_t maxBytes, std::vector<EvaluatedStrategy> evaluated, size_t chosen) {
  limit = maxBytes;
  const auto merit = [&](size_t number) {
    const Evaluation &plan = evaluated[number].plan;
    return std::tuple(number != chosen, std::max<int64_t>(0, -plan.left(limit)), plan.seconds(), number);
  };
  std::vector<size_t> order(evaluated.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return merit(a) < merit(b); });
  strategies.clear();
  for (const size_t number : order)
    strategies.push_back(std::move(evaluated[number]));
  fits = strategies.front().plan.fits(limit);
}

json::Object planningJson(const Planning &planning) {
  const EvaluatedStrategy *chosen = planning.chosen();
  return json::Object{{"memory_limit", planning.limit},
                      {"strategies", strategiesJson(planning.strategies, chosen, planning.limit)},
                      {"taken", chosen - planning.strategies.data()}};
}

std::string verdictOn(const EvaluatedStrategy &strategy, const EvaluatedStrategy *chosen, int64_t limit) {
  if (limit > 0 && strategy.plan.bytes() > limit)
    return formatNeededBytes(uint64_t(strategy.plan.bytes() - limit)) + " too much";
  if (strategy.plan.hostLeft < 0)
    return formatNeededBytes(uint64_t(-strategy.plan.hostLeft)) + " too much on host";
  if (&strategy == chosen)
    return limit > 0 ? "the fastest that fits" : "the fastest";
  if (!chosen || chosen->plan.seconds() == 0)
    return "";
  const double percent = 100 * (strategy.plan.seconds() / chosen->plan.seconds() - 1);
  if (std::abs(percent) < 0.005)
    return "as fast";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%+.2f%% seconds", percent);
  return text;
}

json::Array strategiesJson(ArrayRef<EvaluatedStrategy> strategies, const EvaluatedStrategy *chosen,
                           int64_t limit) {
  json::Array array;
  for (const EvaluatedStrategy &strategy : strategies) {
    json::Object settings;
    for (const auto &[word, value] : strategy.decided)
      settings[word] = value;
    const Evaluation &plan = strategy.plan;
    array.push_back(json::Object{{"settings", std::move(settings)},
                                 {"memory", memoryJson(plan.memory)},
                                 {"offloaded_memory", offloadedMemoryJson(plan.memory)},
                                 {"needed_bytes", plan.bytes()},
                                 {"sent_bytes", plan.sentBytes},
                                 {"flops_per_step", plan.flops.model},
                                 {"recomputed_flops_per_step", plan.flops.recomputed},
                                 {"predicted_step_seconds", plan.step.total},
                                 {"predicted_exposed_seconds", plan.step.exposed},
                                 {"verdict", verdictOn(strategy, chosen, limit)}});
  }
  return array;
}

json::Object largestBatchesJson(int64_t limit, ArrayRef<EvaluatedStrategy> largest) {
  return json::Object{{"memory_limit", limit}, {"strategies", strategiesJson(largest, nullptr, limit)}};
}

} // namespace trainc
