// Pass `warn-idle-checkpoints`.
#include "dialects/Train/Checkpoints.h"
#include "dialects/Train/ProgramSettings.h"
#include "lib/Remat/BlockUses.h"
#include "lib/Remat/Passes.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_WARNIDLECHECKPOINTS
#include "lib/Remat/Passes.h.inc"

namespace {
struct WarnIdleCheckpoints : impl::WarnIdleCheckpointsBase<WarnIdleCheckpoints> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      const train::CheckpointSettings settings = train::checkpointsOf(program);
      const bool isGiven = !settings.keep.empty() && !train::isDerived(program, train::kCheckpointKeep.name);
      if (settings.recomputesBlocks && isGiven)
        warnOfNumbers(program, settings);
      if (settings.recomputesBlocks)
        warnOfBlocks(program, settings);
    }
    markAllAnalysesPreserved();
  }

private:
  /// The last number applies to all further uses, of which there may be none.
  void warnOfNumbers(train::ProgramOp program, const train::CheckpointSettings &settings) {
    const int64_t said = int64_t(settings.keep.size()) - 1, uses = countUses(getOperation(), settings.blocks);
    if (said > uses)
      program.emitWarning("checkpoint_keep (--checkpoint-keep) has numbers for ")
          << said << " uses of blocks, and one for all further uses; the model has " << uses
          << " that are recomputed; leave the last numbers out";
  }

  void warnOfBlocks(train::ProgramOp program, const train::CheckpointSettings &settings) {
    for (StringRef block : settings.blocks)
      if (countUses(getOperation(), {block}) == 0)
        program.emitWarning("checkpoint_blocks (--checkpoint-blocks): '")
            << block << "' does nothing: the model has no use of that block; leave it out";
  }
};
} // namespace

} // namespace trainc
