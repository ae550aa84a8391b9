// Where a run begins: the plan's initialisers, --init, or --resume, the same on all ranks.
#pragma once

#include "runtime/exec/agreement.h"
#include "runtime/exec/executor.h"
#include "runtime/state/trainer_state.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"

#include <filesystem>

namespace trainc {

/// Where training begins.
struct StartingPoint {
  TrainerState position;            ///< step 0 of a new run, or that of the checkpoint
  std::filesystem::path checkpoint; ///< that --resume found; empty for a new run
  std::string weights;              ///< tells whether other ranks have begun with the same

  bool resumed() const { return !checkpoint.empty(); }
};

/// Fills all states of `executor`.
Result<StartingPoint> prepareWeights(Executor &executor, unsigned threads, const RunOptions &options,
                                     const Observers &observers);

/// Compares on all ranks what decides which collectives they start, on which samples, weights and draws; see
/// checkSame(). All ranks call it once they have their weights.
Status checkSameRun(ControlChannel &control, const RunOptions &options, const StartingPoint &start);

} // namespace trainc
