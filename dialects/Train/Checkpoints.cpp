#include "dialects/Train/Checkpoints.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

static SmallVector<StringRef> split(std::optional<StringRef> words) {
  return words ? llvm::map_to_vector(llvm::split(*words, ','), [](StringRef word) { return word.trim(); })
               : SmallVector<StringRef>();
}

bool trainc::train::hasBudget(ProgramOp program) { return program.getActivationCheckpointing() == "budget"; }

CheckpointSettings trainc::train::checkpointsOf(ProgramOp program) {
  const StringRef mode = program.getActivationCheckpointing().value_or("none");
  CheckpointSettings settings;
  settings.recomputesBlocks = mode == "full" || (mode == "budget" && program.getCheckpointKeep());
  settings.recomputesCheap =
      mode == "selective" || (settings.recomputesBlocks && program.getCheckpointRest() == "selective");
  if (program.getCheckpointBlocks() != "outermost")
    settings.blocks = split(program.getCheckpointBlocks());
  settings.every = int64_t(program.getCheckpointStride());
  for (StringRef percent : split(program.getCheckpointKeep()))
    percent.getAsInteger(10, settings.keep.emplace_back());
  return settings;
}

LogicalResult trainc::train::verifyCheckpoints(ProgramOp program) {
  for (StringRef word : split(program.getCheckpointKeep()))
    if (int64_t percent = 0; word.getAsInteger(10, percent) || percent < 0 || percent > 100)
      return program.emitOpError("has the checkpoint_keep \"")
             << *program.getCheckpointKeep() << "\"; expected numbers from 0 to 100 with commas between them";
  if (hasBudget(program) && !program.getMemoryLimit())
    return program.emitOpError(
        "has activation_checkpointing budget and no memory limit to fit into; expected "
        "memory_limit SIZE (--memory-limit=SIZE), or another activation_checkpointing");
  return success();
}
