#include "lib/Pipelines/Strategies.h"

#include "dialects/Train/Checkpoints.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Pipelines/MemoryLimit.h"

#include "llvm/Support/Format.h"

using namespace mlir;

namespace trainc {

bool isDecided(train::ProgramOp program, StringRef word) {
  DictionaryAttr sources = program.getSourcesAttr();
  return sources && sources.contains(word);
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
/// Lets errors through alone.
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

LogicalResult settle(ModuleOp model, const CompileOptions &options) {
  const WithoutWarnings errorsAlone(model.getContext());
  return applySettings(model, options);
}

/// Modules without a program are refused by the first pass.
FailureOr<std::vector<PlannedStrategy>> planStrategies(ModuleOp model, const CompileOptions &options) {
  std::vector<TriedSettings> states(1), levels(1);
  for (auto program : model.getOps<train::ProgramOp>()) {
    if (train::hasBudget(program))
      return program.emitError("activation_checkpointing budget leaves nothing to compare: the memory limit "
                               "decides what is computed again; expected none, selective or full, or "
                               "--memory-limit=SIZE --activation-checkpointing=budget of trainc compile, "
                               "whose --report says what the plan takes");
    if (program.getRanks() > 1 && !isDecided(program, "zero_stage"))
      states = combine(states, "zero_stage", {"0", "1", "2", "3"});
    if (!isDecided(program, "activation_checkpointing"))
      levels = combine(levels, "activation_checkpointing", {"none", "selective", "full"});
    if (!isDecided(program, "offload"))
      states = combine(states, "offload", {"none", "optimizer", "activations"});
  }
  std::vector<PlannedStrategy> planned(states.size() * levels.size());
  const auto planStates = [&](size_t state) -> LogicalResult {
    FailureOr<Candidates> step = makeStep(model, options, states[state]);
    if (failed(step))
      return failure();
    for (size_t level = 0; level < levels.size(); ++level) {
      FailureOr<CandidatePlan> plan = step->plan(levels[level]);
      if (failed(plan))
        return failure();
      TriedSettings decided = states[state];
      llvm::append_range(decided, levels[level]);
      planned[state * levels.size() + level] = {std::move(decided), *plan};
    }
    return success();
  };
  if (failed(planEach(model.getContext(), states.size(), /*firstAlone=*/true, planStates)))
    return failure();
  return planned;
}

std::string verdictOn(const PlannedStrategy &strategy, const PlannedStrategy *taken, int64_t limit) {
  if (limit > 0 && strategy.plan.bytes() > limit)
    return formatBytes(strategy.plan.bytes() - limit) + " too much";
  if (strategy.plan.hostLeft < 0)
    return formatBytes(-strategy.plan.hostLeft) + " of the host too much";
  if (&strategy == taken)
    return limit > 0 ? "the fastest that fits" : "the fastest";
  if (!taken || taken->plan.step.total == 0)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(
      "%+.2f%% seconds", 100 * (strategy.plan.step.total / taken->plan.step.total - 1));
  return text;
}

static llvm::json::Object strategyJson(const PlannedStrategy &strategy, std::string verdict) {
  llvm::json::Object settings;
  for (const train::GivenSetting &setting : strategy.decided)
    settings[setting.word] = setting.value;
  return llvm::json::Object{{"settings", std::move(settings)},
                            {"memory", memoryJson(strategy.plan.memory)},
                            {"memory_outside", memoryOutsideJson(strategy.plan.memory)},
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
