#include "lib/Instantiate/IdleSettings.h"

#include "dialects/Train/Offloading.h"
#include "dialects/Train/Precision.h"
#include "dialects/Train/ProgramSettings.h"
#include "dialects/Train/Sharding.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace trainc;

// The following functions return why a setting has no effect, as the end of the warning. They return an empty
// string if the setting has an effect, or if they do not handle it.

/// Reports options only: settings in the model file may be meant for more ranks.
static std::string whyIdleOnOneRank(train::ProgramOp program, const train::ProgramWord &each) {
  if (program.getRanks() > 1 || !train::isFromOption(program, each.word))
    return "";
  // Flat states are organised by units on any number of ranks.
  const bool idle = each.word == "zero_stage" ? program.getZeroStage() > 0
                    : each.word == "wrap"     ? !train::hasFlatStates(program)
                                              : each.ofSharding && each.word != "reproducible";
  return idle ? "on one rank; give --ranks=N as well, or leave it out" : "";
}

/// Reports nothing on one rank, where whyIdleOnOneRank() decides.
static std::string whyIdleInStage(train::ProgramOp program, const train::ProgramWord &each) {
  const auto stage = int64_t(program.getZeroStage());
  if (program.getRanks() == 1 || stage >= each.fromStage)
    return "";
  return llvm::formatv("with zero_stage {0}, which {1}", stage, each.whyNoEffect);
}

static std::string whyIdleInScaling(train::ProgramOp program, const train::ProgramWord &each) {
  if (!each.ofFp16)
    return "";
  if (!train::precisionOf(program).compute.isF16())
    return "with a precision other than fp16";
  return program.getLossScale() > 0 && each.word != "loss_scale" ? "with a fixed loss_scale" : "";
}

/// Reports nothing if the planner chose the mode under a memory limit: it has then tried `full` with these
/// settings, too.
static std::string whyIdleInCheckpoints(train::ProgramOp program, const train::ProgramWord &each) {
  const StringRef mode = program.getActivationCheckpointing().value_or("none");
  const bool isChosen =
      mode == "budget" && (each.word == "checkpoint_keep" || each.word == "checkpoint_rest");
  if (!each.ofCheckpoints || mode == "full" || (mode == "budget" && !isChosen) ||
      train::isDerived(program, "activation_checkpointing"))
    return "";
  return llvm::formatv("with activation_checkpointing {0}{1}", mode,
                       isChosen ? ", which chooses it"
                                : "; give --activation-checkpointing=full as well, or leave the word out");
}

/// Reports nothing if the planner may still choose what is offloaded.
static std::string whyIdleInOffload(train::ProgramOp program, const train::ProgramWord &each) {
  const bool mayBeChosen = program.getMemoryLimit() && !program.getOffload();
  if (!each.ofOffload || mayBeChosen)
    return "";
  const train::OffloadSettings settings = train::offloadOf(program);
  if (each.word == "offload_update" && settings.any() &&
      !llvm::is_contained(settings.roles, train::StateRole::optimizer))
    return "without optimizer among the words of offload (--offload); give that as well, or leave it out";
  if (settings.any())
    return "";
  return "without offload (--offload); give that as well, or leave it out";
}

void trainc::warnOfIdleSettings(train::ProgramOp program) {
  DictionaryAttr given = program.getSourcesAttr();
  for (const train::ProgramWord &each : train::kProgramWords) {
    if (!given || !given.contains(StringRef(each.word)))
      continue;
    for (const auto why :
         {whyIdleOnOneRank, whyIdleInStage, whyIdleInScaling, whyIdleInCheckpoints, whyIdleInOffload})
      if (const std::string reason = why(program, each); !reason.empty())
        program.emitWarning(each.ofSharding ? "sharding: " : "")
            << StringRef(each.word) << " (" << StringRef(each.option) << ") does nothing " << reason;
  }
}
