#include "lib/Instantiate/IdleSettings.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace trainc;

// The following functions return why a setting has no effect, as the end of the warning, or an empty string.

/// Reports options only: settings in the model file may be meant for more ranks. Flat states are organised by
/// units on any number of ranks.
static std::string whyIdleOnOneRank(train::ProgramOp program, const train::Setting &setting) {
  const bool hasStates = setting.condition == train::Condition::FlatStates && train::hasFlatStates(program);
  return train::isFromOption(program, setting.name) && !hasStates
             ? "on one rank; give --ranks=N as well, or leave it out"
             : "";
}

/// Returns why a setting that needs zero_stage `from` or higher has no effect.
static std::string whyIdleInStage(train::ProgramOp program, const train::Setting &setting, int64_t from) {
  if (train::kRanks.of(program) == 1)
    return whyIdleOnOneRank(program, setting);
  const int64_t stage = train::kZeroStage.of(program);
  return stage >= from ? ""
                       : llvm::formatv("with zero_stage {0}, which shards no {1}", stage,
                                       from == 3 ? "parameters" : "states")
                             .str();
}

static std::string whyIdleInScaling(train::ProgramOp program, bool isOfDynamicScale) {
  if (train::kPrecision.of(program) != train::Precision::fp16)
    return "with a precision other than fp16";
  return isOfDynamicScale && train::kLossScale.of(program) > 0 ? "with a fixed loss_scale" : "";
}

/// Reports nothing if the planner chose the mode under a memory limit: it has then tried `full` with these
/// settings, too.
static std::string whyIdleInCheckpoints(train::ProgramOp program, bool isChosenByBudget) {
  const train::Checkpointing mode = train::kActivationCheckpointing.of(program);
  const bool isChosen = mode == train::Checkpointing::budget && isChosenByBudget;
  if (mode == train::Checkpointing::full || (mode == train::Checkpointing::budget && !isChosen) ||
      train::isDerived(program, train::kActivationCheckpointing.name))
    return "";
  return llvm::formatv(
      "with activation_checkpointing {0}{1}", StringRef(train::kActivationCheckpointing.wordFor(mode)),
      isChosen ? ", which chooses it" : "; give --activation-checkpointing=full as well, or leave it out");
}

/// Reports nothing if the planner may still choose what is offloaded.
static std::string whyIdleInOffload(train::ProgramOp program, bool needsMoments) {
  if (train::kMemoryLimit.isSet(program) && !train::kOffload.isSet(program))
    return "";
  if (!train::offloadOf(program).any())
    return "without " + train::bothNames(train::kOffload) + "; give that as well, or leave it out";
  return needsMoments && !train::kOffload.has(program, train::Offloaded::optimizer)
             ? "without optimizer among the words of " + train::bothNames(train::kOffload) +
                   "; give that as well, or leave it out"
             : "";
}

static std::string whyIdle(train::ProgramOp program, const train::Setting &setting) {
  using enum train::Condition;
  switch (setting.condition) {
  case Always:
  case DeviceMemory: // the target reports these
  case ComputeCapability:
    return &setting == &train::kZeroStage && train::kRanks.of(program) == 1 &&
                   train::kZeroStage.of(program) > 0
               ? whyIdleOnOneRank(program, setting)
               : "";
  case SeveralRanks:
  case FlatStates:
    return whyIdleInStage(program, setting, 0);
  case ShardedStates:
    return whyIdleInStage(program, setting, 1);
  case ShardedParameters:
    return whyIdleInStage(program, setting, 3);
  case Fp16:
  case DynamicScale:
    return whyIdleInScaling(program, setting.condition == DynamicScale);
  case Recomputation:
  case FullRecomputation:
    return whyIdleInCheckpoints(program, setting.condition == FullRecomputation);
  case Offloading:
  case OffloadedMoments:
    return whyIdleInOffload(program, setting.condition == OffloadedMoments);
  case Adapters:
    return train::kLora.isSet(program) ? "" : "without lora (--lora); give that as well, or leave it out";
  }
  llvm_unreachable("unknown condition");
}

void trainc::warnOfIdleSettings(train::ProgramOp program) {
  DictionaryAttr given = program.getSourcesAttr();
  for (const train::Setting *setting : train::kSettings) {
    if (!given || !given.contains(StringRef(setting->name)))
      continue;
    if (const std::string reason = whyIdle(program, *setting); !reason.empty())
      program.emitWarning() << train::bothNames(*setting) << " does nothing " << reason;
  }
}
