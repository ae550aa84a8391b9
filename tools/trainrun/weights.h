// Where the weights come from: the plan's initialisers, --init, or --resume.
#pragma once

#include "runtime/exec/executor.h"
#include "runtime/log/log.h"
#include "runtime/state/trainer_state.h"
#include "tools/trainrun/machine.h"
#include "tools/trainrun/options.h"

namespace trainc {

/// Where training begins.
struct StartingPoint {
  TrainerState position; ///< step 0 of a new run, or that of the checkpoint
  bool resumed = false;
};

/// Fills all states of `executor`.
Result<StartingPoint> prepareWeights(Executor &executor, const Machine &machine, const Options &options,
                                     Log &log);

} // namespace trainc
