// `trainc estimate`: strategies of a model side by side, without a plan file.
#include "base/plain_text.h"
#include "base/print.h"
#include "lib/Pipelines/Queries.h"
#include "lib/Pipelines/WithoutWarnings.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/ModelFile.h"
#include "tools/trainc/StrategyTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace trainc {

/// The fastest strategy that fits into `memory` bytes (0: unlimited) and into the host, the first if several
/// are equal; null if none fits.
static const EvaluatedStrategy *findFastest(const std::vector<EvaluatedStrategy> &strategies,
                                            int64_t memory) {
  const int64_t limit = memory > 0 ? memory : std::numeric_limits<int64_t>::max();
  const EvaluatedStrategy *fastest = nullptr;
  for (const EvaluatedStrategy &strategy : strategies)
    if (strategy.plan.fits(limit) && (!fastest || strategy.plan.step.total < fastest->plan.step.total))
      fastest = &strategy;
  return fastest;
}

static std::string asJson(const std::vector<EvaluatedStrategy> &strategies, const EvaluatedStrategy *fastest,
                          int64_t memory) {
  llvm::json::Object json{{"strategies", strategiesJson(strategies, fastest, memory)}};
  json["fastest"] = fastest ? llvm::json::Value(fastest - strategies.data()) : nullptr;
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
}

/// Returns the table with the fastest strategy first. Equally fast ones keep their order.
static std::string tableByTime(const std::vector<EvaluatedStrategy> &strategies,
                               const EvaluatedStrategy *fastest, int64_t memory) {
  std::vector<size_t> order(strategies.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t index) { return std::pair(strategies[index].plan.step.total, index); });
  std::vector<EvaluatedStrategy> sorted;
  for (const size_t index : order)
    sorted.push_back(strategies[index]);
  const EvaluatedStrategy *chosen = nullptr;
  for (const auto &[strategy, index] : llvm::zip_equal(sorted, order))
    if (fastest == &strategies[index])
      chosen = &strategy;
  return strategyTable(sorted, chosen, memory);
}

/// Bytes that a rank may use; 0: unlimited.
static int64_t boundOf(const EstimateCommand &command, mlir::ModuleOp model) {
  if (command.memory > 0)
    return command.memory;
  const std::optional<MemoryLimit> limit = passConditionsOf(model, command.options).memoryLimit;
  return limit ? limit->bytes : 0;
}

/// Line about what a compilation for a limit tries besides.
static std::string othersForLimit(const std::string &combinedSamples) {
  const std::string tries = "trainc compile --memory-limit also tries ",
                    rest = "more checkpointing and offload";
  if (combinedSamples.empty())
    return tries + "smaller micro-batches, " + rest + "\n";
  return tries + rest +
         "; a smaller --micro-batch changes the loss, which combines the samples of a micro-batch (" +
         combinedSamples + ")\n";
}

int runEstimate(const EstimateCommand &command) {
  auto file = readModel(command.model);
  if (!file.ok())
    return finish(file.status());
  ParsedModel model(std::move(*file));
  if (!model.module())
    return kExitUsage;
  {
    // Compiling a strategy reports warnings.
    const WithoutWarnings onlyErrors(model.module().getContext());
    if (failed(applySettings(model.module(), command.options)))
      return kExitUsage;
  }
  const auto comparison = estimateStrategies(model.module(), command.options);
  if (failed(comparison))
    return kExitUsage;
  const std::vector<EvaluatedStrategy> &strategies = comparison->strategies;
  const int64_t memory = boundOf(command, model.module());
  const EvaluatedStrategy *fastest = findFastest(strategies, memory);
  if (command.json)
    return finish(printOutput(printableJson(asJson(strategies, fastest, memory))));
  const std::string others = memory > 0 ? othersForLimit(comparison->combinedSamples) : "";
  return finish(printText(tableByTime(strategies, fastest, memory) + others));
}

} // namespace trainc
