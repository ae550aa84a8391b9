#include "lib/Pipelines/Strategies.h"

#include "dialects/Train/ProgramSettings.h"

#include "mlir/IR/Threading.h"

using namespace mlir;

namespace trainc {

bool isDecided(ModuleOp model, const CompileOptions &options, StringRef word) {
  const auto says = [&](const train::GivenSetting &setting) { return setting.word == word; };
  return llvm::any_of(options.settings, says) ||
         llvm::any_of(model.getOps<train::ProgramOp>(), [&](train::ProgramOp program) {
           DictionaryAttr sources = program.getSourcesAttr();
           return sources && sources.contains(word);
         });
}

std::vector<Decisions> combine(const std::vector<Decisions> &ways, StringRef word,
                               ArrayRef<StringRef> values) {
  std::vector<Decisions> result;
  for (const Decisions &way : ways)
    for (StringRef value : values) {
      result.push_back(way);
      result.back().push_back({word.str(), value.str()});
    }
  return result;
}

/// Ranks that train together.
static int64_t ranksOf(ModuleOp model, const CompileOptions &options) {
  for (const train::GivenSetting &setting : llvm::reverse(options.settings))
    if (setting.word == "ranks")
      return std::stoll(setting.value);
  for (auto program : model.getOps<train::ProgramOp>())
    return int64_t(program.getRanks());
  return 1;
}

FailureOr<PlannedStrategy> planStrategy(ModuleOp model, CompileOptions options, Decisions decided) {
  // Warnings are for the strategy that is taken.
  const ScopedDiagnosticHandler errorsAlone(model.getContext(), [](Diagnostic &message) {
    return success(message.getSeverity() != DiagnosticSeverity::Error);
  });
  options.settings.insert(options.settings.end(), decided.begin(), decided.end());
  FailureOr<Candidates> candidates = Candidates::make(model, options);
  if (failed(candidates))
    return failure();
  FailureOr<CandidatePlan> plan = candidates->plan();
  if (failed(plan))
    return failure();
  return PlannedStrategy{std::move(decided), *plan};
}

FailureOr<std::vector<PlannedStrategy>> planStrategies(ModuleOp model, const CompileOptions &options) {
  std::vector<Decisions> ways(1);
  if (ranksOf(model, options) > 1 && !isDecided(model, options, "zero_stage"))
    ways = combine(ways, "zero_stage", {"0", "1", "2", "3"});
  if (!isDecided(model, options, "activation_checkpointing"))
    ways = combine(ways, "activation_checkpointing", {"none", "selective"});
  std::vector<PlannedStrategy> planned(ways.size());
  const auto planOne = [&](size_t index) {
    FailureOr<PlannedStrategy> strategy = planStrategy(model, options, ways[index]);
    if (succeeded(strategy))
      planned[index] = std::move(*strategy);
    return strategy;
  };
  // What is wrong with the model is wrong with all, and said once.
  if (failed(planOne(0)) || failed(failableParallelForEachN(model.getContext(), 1, ways.size(), planOne)))
    return failure();
  return planned;
}

static llvm::json::Object strategyJson(const PlannedStrategy &strategy) {
  const MemoryReport &memory = strategy.plan.memory;
  llvm::json::Object settings;
  for (const train::GivenSetting &setting : strategy.decided)
    settings[setting.word] = setting.value;
  return llvm::json::Object{{"settings", std::move(settings)},
                            {"memory", llvm::json::Object{{"parameters", memory.parameters},
                                                          {"gradients", memory.gradients},
                                                          {"optimizer", memory.optimizer},
                                                          {"activations", memory.activations},
                                                          {"workspace", memory.workspace},
                                                          {"peak", memory.peak},
                                                          {"unplanned", memory.unplanned}}},
                            {"sent_bytes", strategy.plan.sentBytes},
                            {"flops_per_step", strategy.plan.flops},
                            {"predicted_step_seconds", strategy.plan.step.total},
                            {"predicted_exposed_seconds", strategy.plan.step.exposed}};
}

llvm::json::Array strategiesJson(ArrayRef<PlannedStrategy> strategies) {
  llvm::json::Array json;
  for (const PlannedStrategy &strategy : strategies)
    json.push_back(strategyJson(strategy));
  return json;
}

} // namespace trainc
