#include "dialects/Train/Checkpoints.h"

#include "dialects/Train/Lists.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

bool trainc::train::hasBudget(ProgramOp program) { return program.getActivationCheckpointing() == "budget"; }

CheckpointSettings trainc::train::checkpointsOf(ProgramOp program) {
  const StringRef mode = program.getActivationCheckpointing().value_or("none");
  CheckpointSettings settings;
  settings.recomputesBlocks = mode == "full" || (mode == "budget" && program.getCheckpointKeep());
  settings.recomputesCheap =
      mode == "selective" || (settings.recomputesBlocks && program.getCheckpointRest() == "selective");
  if (const StringRef blocks = program.getCheckpointBlocks().value_or("outermost"); blocks != "outermost")
    llvm::append_range(settings.blocks, llvm::split(blocks, ','));
  settings.every = int64_t(program.getCheckpointStride());
  if (const std::optional<StringRef> shares = program.getCheckpointKeep())
    for (StringRef element : llvm::split(*shares, ','))
      if (const std::optional<KeptShare> share = keptShareOf(element)) // the verifier has checked the syntax
        settings.keep.append(size_t(share->uses), share->percent);
  return settings;
}
