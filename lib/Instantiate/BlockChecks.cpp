#include "lib/Instantiate/BlockChecks.h"

#include "dialects/NN/Syntax.h"
#include "dialects/Train/Checkpoints.h"
#include "dialects/Train/Sharding.h"
#include "plan/settings/settings.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace trainc;

/// Reports an error that begins with `what` if one of `names` is no block.
static LogicalResult checkBlocks(const Binding &binding, ArrayRef<StringRef> names, StringRef what,
                                 StringRef expected) {
  train::ProgramOp program = binding.program;
  SmallVector<StringRef> blocks;
  for (auto block : ModuleOp(binding.module).getOps<nn::BlockOp>())
    blocks.push_back(block.getPlainName());
  for (StringRef name : names)
    if (!llvm::is_contained(blocks, name)) {
      InFlightDiagnostic error = program.emitError(what);
      error << ": there is no block @" << name << "; expected " << expected;
      if (StringRef nearest = nearestName(name, blocks); !nearest.empty())
        error << "; did you mean '" << nearest << "'?";
      return error;
    }
  return success();
}

LogicalResult trainc::checkWrap(const Binding &binding) {
  const train::Wrap wrap = train::shardingOf(binding.program).wrap;
  return checkBlocks(binding, llvm::to_vector_of<StringRef>(wrap.names), "wrap (--wrap)",
                     "blocks or model alone, a number of parameters, or names of blocks");
}

LogicalResult trainc::checkCheckpoints(const Binding &binding) {
  train::ProgramOp program = binding.program;
  if (train::hasBudget(program) && !train::kMemoryLimit.isSet(program))
    return program.emitError(
        "activation_checkpointing (--activation-checkpointing) budget has no memory limit to fit into; "
        "expected memory_limit SIZE (--memory-limit=SIZE), or another activation_checkpointing");
  const train::CheckpointSettings settings = train::checkpointsOf(program);
  bool hasUse = false;
  binding.model->walk([&](Operation *op) { hasUse |= isa<BlockUserOpInterface>(op); });
  if (settings.recomputesBlocks && !hasUse)
    program.emitWarning(
        "activation_checkpointing full recomputes blocks, but the model uses none: it keeps everything");
  return checkBlocks(binding, settings.blocks, "checkpoint_blocks (--checkpoint-blocks)",
                     "outermost alone, or names of blocks");
}
