#include "lib/Pipelines/Strategies.h"

#include "dialects/Train/ProgramSettings.h"

#include "mlir/IR/Threading.h"

using namespace mlir;

namespace trainc {

using Decisions = std::vector<train::GivenSetting>;

bool isDecided(ModuleOp model, const CompileOptions &options, StringRef word) {
  const auto says = [&](const train::GivenSetting &setting) { return setting.word == word; };
  return llvm::any_of(options.settings, says) ||
         llvm::any_of(model.getOps<train::ProgramOp>(), [&](train::ProgramOp program) {
           DictionaryAttr sources = program.getSourcesAttr();
           return sources && sources.contains(word);
         });
}

/// The number that an option or the program gives the word.
static int64_t numberOf(ModuleOp model, const CompileOptions &options, StringRef word, int64_t otherwise) {
  for (const train::GivenSetting &setting : llvm::reverse(options.settings))
    if (setting.word == word)
      return std::stoll(setting.value);
  for (auto program : model.getOps<train::ProgramOp>())
    if (auto number = program->getAttrOfType<IntegerAttr>(word))
      return number.getInt();
  return otherwise;
}

/// Each of `ways` with each of the values.
static std::vector<Decisions> multiply(const std::vector<Decisions> &ways, StringRef word,
                                       ArrayRef<StringRef> values) {
  std::vector<Decisions> result;
  for (const Decisions &way : ways)
    for (StringRef value : values) {
      result.push_back(way);
      result.back().push_back({word.str(), value.str()});
    }
  return result;
}

static std::vector<Decisions> combinations(ModuleOp model, const CompileOptions &options) {
  std::vector<Decisions> ways(1);
  if (numberOf(model, options, "ranks", 1) > 1 && !isDecided(model, options, "zero_stage"))
    ways = multiply(ways, "zero_stage", {"0", "1", "2", "3"});
  if (!isDecided(model, options, "activation_checkpointing"))
    ways = multiply(ways, "activation_checkpointing", {"none", "selective"});
  return ways;
}

static FailureOr<CandidatePlan> planWith(ModuleOp model, CompileOptions options, const Decisions &decided) {
  options.settings.insert(options.settings.end(), decided.begin(), decided.end());
  FailureOr<Candidates> candidates = Candidates::make(model, options);
  if (failed(candidates))
    return failure();
  return candidates->plan();
}

FailureOr<std::vector<PlannedStrategy>> planStrategies(ModuleOp model, const CompileOptions &options) {
  const std::vector<Decisions> ways = combinations(model, options);
  std::vector<PlannedStrategy> planned(ways.size());
  const auto planOne = [&](size_t index) {
    FailureOr<CandidatePlan> plan = planWith(model, options, ways[index]);
    if (failed(plan))
      return failure();
    planned[index] = {ways[index], *plan};
    return success();
  };
  // What is wrong with the model is wrong with all, and said once.
  if (failed(planOne(0)) || failed(failableParallelForEachN(model.getContext(), 1, ways.size(), planOne)))
    return failure();
  return planned;
}

} // namespace trainc
