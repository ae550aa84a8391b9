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

namespace {

/// "15", or "48x15", which says it of 48 uses.
struct KeptShare {
  int64_t uses = 1, percent = 0;
};

} // namespace

/// None of a word that is neither.
static std::optional<KeptShare> keptShareOf(StringRef word) {
  KeptShare share;
  if (const auto [uses, percent] = word.split('x'); word.contains('x')) {
    if (uses.trim().getAsInteger(10, share.uses) || share.uses < 1 || share.uses > kMostRepeated)
      return std::nullopt;
    word = percent.trim();
  }
  if (word.getAsInteger(10, share.percent) || share.percent < 0 || share.percent > 100)
    return std::nullopt;
  return share;
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
  for (StringRef word : split(program.getCheckpointKeep()))
    if (const std::optional<KeptShare> share = keptShareOf(word))
      settings.keep.append(size_t(share->uses), share->percent);
  return settings;
}

LogicalResult trainc::train::verifyCheckpoints(ProgramOp program) {
  for (StringRef word : split(program.getCheckpointKeep()))
    if (!keptShareOf(word))
      return program.emitOpError("has the checkpoint_keep \"")
             << *program.getCheckpointKeep()
             << "\"; expected numbers from 0 to 100 with commas between them, and before a number for "
                "several uses their count of at most "
             << kMostRepeated << ", as in \"48x15,30\"";
  if (hasBudget(program) && !program.getMemoryLimit())
    return program.emitOpError(
        "has activation_checkpointing budget and no memory limit to fit into; expected "
        "memory_limit SIZE (--memory-limit=SIZE), or another activation_checkpointing");
  return success();
}
