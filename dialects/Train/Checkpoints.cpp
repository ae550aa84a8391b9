#include "dialects/Train/Checkpoints.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::train;

/// Of one number in `checkpoint_keep`; no model has as many layers.
static constexpr int64_t kMostRepeated = 65536;

static SmallVector<StringRef> split(std::optional<StringRef> words) {
  return words ? llvm::map_to_vector(llvm::split(*words, ','), [](StringRef word) { return word.trim(); })
               : SmallVector<StringRef>();
}

/// "15" or "48x15", 48 times 15; 0 uses of a word that is neither.
static std::pair<int64_t, int64_t> countAndPercent(StringRef word) {
  int64_t count = 1, percent = 0;
  const auto [first, second] = word.split('x');
  const bool isRepeated = word.contains('x');
  if ((isRepeated && first.trim().getAsInteger(10, count)) ||
      (isRepeated ? second : first).trim().getAsInteger(10, percent) || count < 1 || count > kMostRepeated ||
      percent < 0 || percent > 100)
    return {0, 0};
  return {count, percent};
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
  for (StringRef word : split(program.getCheckpointKeep())) {
    const auto [count, percent] = countAndPercent(word);
    settings.keep.append(size_t(count), percent);
  }
  return settings;
}

LogicalResult trainc::train::verifyCheckpoints(ProgramOp program) {
  for (StringRef word : split(program.getCheckpointKeep()))
    if (countAndPercent(word).first == 0)
      return program.emitOpError("has the checkpoint_keep \"")
             << *program.getCheckpointKeep()
             << "\"; expected numbers from 0 to 100 with commas between them, and before a number for "
                "several uses their "
                "count of at most "
             << kMostRepeated << ", as in \"48x15,30\"";
  if (hasBudget(program) && !program.getMemoryLimit())
    return program.emitOpError(
        "has activation_checkpointing budget and no memory limit to fit into; expected "
        "memory_limit SIZE (--memory-limit=SIZE), or another activation_checkpointing");
  return success();
}
