#include "lib/Pipelines/Strategies.h"

#include "base/units.h"
#include "dialects/Train/Checkpoints.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/MemoryLimit.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace trainc {

bool isDecided(train::ProgramOp program, StringRef word) {
  DictionaryAttr sources = program.getSourcesAttr();
  return sources && sources.contains(word);
}

bool isGiven(train::ProgramOp program, StringRef word) {
  return isDecided(program, word) && !train::isDerived(program, word);
}

std::vector<TriedSettings> combine(const std::vector<TriedSettings> &ways, StringRef word,
                                   ArrayRef<StringRef> values) {
  std::vector<TriedSettings> result;
  for (const TriedSettings &way : ways)
    for (StringRef value : values) {
      result.push_back(way);
      result.back().push_back({word.str(), value.str()});
    }
  return result;
}

namespace {
/// Suppresses all diagnostics but errors.
struct WithoutWarnings : ScopedDiagnosticHandler {
  explicit WithoutWarnings(MLIRContext *context)
      : ScopedDiagnosticHandler(context, [](Diagnostic &message) {
          return success(message.getSeverity() != DiagnosticSeverity::Error);
        }) {}
};
} // namespace

FailureOr<Candidates> makeStep(ModuleOp model, CompileOptions options, const TriedSettings &decided) {
  const WithoutWarnings errorsAlone(model.getContext());
  options.settings = decided;
  return Candidates::make(model, options);
}

FailureOr<std::vector<Candidates>> makeSteps(ModuleOp model, const CompileOptions &options,
                                             ArrayRef<TriedSettings> decided, bool firstAlone) {
  std::vector<std::optional<Candidates>> made(decided.size());
  const auto makeOne = [&](size_t i) -> LogicalResult {
    FailureOr<Candidates> step = makeStep(model, options, decided[i]);
    if (succeeded(step))
      made[i].emplace(std::move(*step));
    return step;
  };
  if (failed(planEach(model.getContext(), decided.size(), firstAlone, makeOne)))
    return failure();
  std::vector<Candidates> steps;
  for (std::optional<Candidates> &step : made) {
    step->keepScheduled(); // several offload settings are planned from each
    steps.push_back(std::move(*step));
  }
  return steps;
}

LogicalResult settle(ModuleOp model, const CompileOptions &options) {
  const WithoutWarnings errorsAlone(model.getContext());
  return applySettings(model, options);
}

/// Modules without a program are rejected by the first pass.
FailureOr<std::vector<PlannedStrategy>> planStrategies(ModuleOp model, const CompileOptions &options) {
  std::vector<TriedSettings> stages(1), variants(1);
  for (auto program : model.getOps<train::ProgramOp>()) {
    if (train::hasBudget(program))
      return program.emitError(
          "activation_checkpointing budget leaves nothing to compare: a memory limit decides what to "
          "recompute; give --activation-checkpointing=none, selective or full to estimate one of them, "
          "or leave "
          "activation_checkpointing out to compare all three; with budget, trainc compile "
          "--memory-limit=SIZE --report=FILE.json says what the plan takes");
    if (train::kRanks.of(program) > 1 && !isDecided(program, "zero_stage"))
      stages = combine(stages, "zero_stage", {"0", "1", "2", "3"});
    if (!isDecided(program, "offload"))
      variants = combine(variants, "offload",
                         {"none", "optimizer", "optimizer,gradients,parameters", "activations"});
    if (!isDecided(program, "activation_checkpointing"))
      variants = combine(variants, "activation_checkpointing", {"none", "selective", "full"});
  }
  FailureOr<std::vector<Candidates>> steps = makeSteps(model, options, stages, /*firstAlone=*/true);
  if (failed(steps))
    return failure();
  std::vector<PlannedStrategy> planned(stages.size() * variants.size());
  const auto planOne = [&](size_t number) -> LogicalResult {
    const size_t stage = number / variants.size();
    const TriedSettings &tried = variants[number % variants.size()];
    FailureOr<CandidatePlan> plan = (*steps)[stage].plan(tried);
    if (failed(plan))
      return failure();
    planned[number] = {stages[stage], *plan};
    llvm::append_range(planned[number].decided, tried);
    return success();
  };
  if (failed(planEach(model.getContext(), planned.size(), /*firstAlone=*/true, planOne)))
    return failure();
  return planned;
}

std::string verdictOn(const PlannedStrategy &strategy, const PlannedStrategy *taken, int64_t limit) {
  if (limit > 0 && strategy.plan.bytes() > limit)
    return formatBytes(uint64_t(strategy.plan.bytes() - limit)) + " too much";
  if (strategy.plan.hostLeft < 0)
    return formatBytes(uint64_t(-strategy.plan.hostLeft)) + " too much on host";
  if (&strategy == taken)
    return limit > 0 ? "the fastest that fits" : "the fastest";
  if (!taken || taken->plan.step.total == 0)
    return "";
  const double percent = 100 * (strategy.plan.step.total / taken->plan.step.total - 1);
  if (std::abs(percent) < 0.005)
    return "as fast";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%+.2f%% seconds", percent);
  return text;
}

static llvm::json::Object strategyJson(const PlannedStrategy &strategy, std::string verdict) {
  llvm::json::Object settings;
  for (const train::GivenSetting &setting : strategy.decided)
    settings[setting.word] = setting.value;
  return llvm::json::Object{{"settings", std::move(settings)},
                            {"memory", memoryJson(strategy.plan.memory)},
                            {"memory_outside", offloadedMemoryJson(strategy.plan.memory)},
                            {"needed_bytes", strategy.plan.bytes()},
                            {"sent_bytes", strategy.plan.sentBytes},
                            {"flops_per_step", strategy.plan.flops.model},
                            {"recomputed_flops_per_step", strategy.plan.flops.recomputed},
                            {"predicted_step_seconds", strategy.plan.step.total},
                            {"predicted_exposed_seconds", strategy.plan.step.exposed},
                            {"verdict", std::move(verdict)}};
}

llvm::json::Array strategiesJson(ArrayRef<PlannedStrategy> strategies, const PlannedStrategy *taken,
                                 int64_t limit) {
  llvm::json::Array json;
  for (const PlannedStrategy &strategy : strategies)
    json.push_back(strategyJson(strategy, verdictOn(strategy, taken, limit)));
  return json;
}

} // namespace trainc
