// Start of a run: the plan's initialisers, --init, or --resume; equal on all ranks.
#pragma once

#include "runtime/data/formats/token_file.h"
#include "runtime/exec/agreement.h"
#include "runtime/exec/executor.h"
#include "runtime/state/trainer_state.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"

#include <filesystem>

namespace trainc {

/// Position and weights with which a training starts.
struct StartingPoint {
  TrainerState position;                         ///< step 0 for a new run, or that of the checkpoint
  std::filesystem::path checkpoint;              ///< found by --resume; empty for a new run
  std::string weights;                           ///< fingerprint of the weights, to compare ranks
  std::optional<TokenizerRecord> tokenizer = {}; ///< recorded in the checkpoint of the weights

  bool resumed() const { return !checkpoint.empty(); }
};

/// Initialises or loads all states of `executor`.
Result<StartingPoint> prepareWeights(Executor &executor, unsigned threads, const RunOptions &options,
                                     const Observers &observers);

/// Compares on all ranks the settings that determine their collectives, samples, weights and random draws;
/// see checkSame(). All ranks call it once they have their weights.
Status checkSameRun(ControlChannel &control, const RunOptions &options, const StartingPoint &start);

} // namespace trainc
