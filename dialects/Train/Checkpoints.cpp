#include "dialects/Train/Checkpoints.h"

#include "plan/settings/lists.h"
#include "plan/settings/settings.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

bool trainc::train::hasBudget(ProgramOp program) {
  return kActivationCheckpointing.of(program) == Checkpointing::budget;
}

CheckpointSettings trainc::train::checkpointsOf(ProgramOp program) {
  const Checkpointing mode = kActivationCheckpointing.of(program);
  CheckpointSettings settings;
  settings.recomputesBlocks =
      mode == Checkpointing::full || (mode == Checkpointing::budget && kCheckpointKeep.isSet(program));
  settings.recomputesCheap =
      mode == Checkpointing::selective ||
      (settings.recomputesBlocks && kCheckpointRest.of(program) == Checkpointing::selective);
  if (const StringRef blocks = kCheckpointBlocks.of(program); blocks != "outermost")
    llvm::append_range(settings.blocks, llvm::split(blocks, ','));
  if (const std::optional<std::string_view> shares = kCheckpointKeep.given(program))
    for (const std::string_view element : elementsOf(*shares))
      if (const std::optional<KeptShare> share = keptShareOf(element)) // the verifier has checked the syntax
        settings.keep.append(size_t(share->uses), share->percent);
  return settings;
}
