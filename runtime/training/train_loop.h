// The run of a training: steps, metrics, evaluations, checkpoints.
#pragma once

#include "runtime/log/log.h"
#include "runtime/log/metrics.h"
#include "runtime/log/progress.h"
#include "runtime/state/checkpoint_writer.h"
#include "runtime/training/evaluate.h"
#include "runtime/training/step_runner.h"

#include <functional>

namespace trainc {

/// Of all ranks and micro-batches.
uint64_t samplesPerStep(const fb::Plan &plan);

/// What the user decides; everything else is the plan's.
struct TrainOptions {
  uint64_t steps = 0;           ///< to reach in all, those before a resumption included
  uint64_t evalEvery = 0;       ///< steps; 0: only after the last one
  uint64_t checkpointEvery = 0; ///< steps; 0: only after the last one
  bool skipNonFinite = false;   ///< go on after a step that was not applied, instead of failing
  double peakFlops = 0;         ///< of the device, for the MFU; 0: unknown
};

/// What a training runs on. The optional ones may be null; among several ranks, metrics on rank 0 alone, the
/// others on all ranks or on none.
struct TrainParts {
  Executor &executor;
  const Dataset &dataset; ///< opened with the columns of the training entries
  Log &log;
  MetricsWriter *metrics = nullptr;
  CheckpointWriter *checkpoints = nullptr;
  Evaluator *evaluator = nullptr;
  /// Asked before each step and each batch of an evaluation; empty: never. A yes on one rank stops all.
  std::function<bool()> stopRequested;
  std::function<double()> secondsSinceStart{}; ///< since the start of the process; empty: not reported
};

/// Trains from a position to the last step. The plan's states must hold the weights of that position. All
/// ranks run their loops together, and end at the same step.
class TrainLoop {
public:
  /// `start`: step, seed, shuffle, samples and tokens say where to begin; the other fields go into
  /// checkpoints as they are.
  TrainLoop(TrainParts parts, TrainOptions options, TrainerState start);

  /// Runs the steps that are left, or until a stop is requested or an error; then writes a checkpoint of the
  /// last good step. Fails (kFailed) when a step gives a loss or gradient that is not finite (it changed
  /// nothing, and the message names the op) or when the last checkpoint cannot be written; (kInvalidInput) on
  /// damaged data. When a rank has died in the midst of it all, no checkpoint is written: the others hold a
  /// part of the weights each, perhaps of different steps.
  Status run();

  /// Where the run stands.
  const TrainerState &position() const { return position_; }
  /// Whether a stop that some rank requested ended it.
  bool stopped() const { return stopped_; }

private:
  Status runSteps();
  Status runSteps(Loader &loader);
  /// Runs the next step, unless a stop is requested.
  Status runStep(Loader &loader);
  Result<StepBatch> nextBatch(Loader &loader) const;
  Status checkFinite(const StepScalars &scalars, const StepResult &result, const StepBatch &batch);
  void report(const StepScalars &scalars, const StepResult &result, double seconds);
  void report(const EvalResult &result, double seconds);
  Status evaluate();
  /// Begins to write a checkpoint, unless this run has begun or loaded that of its position already. Fails
  /// as endCheckpoint() does.
  Status saveProgress();
  /// Lets the ranks agree on how far they are with the checkpoint being written. Fails as endCheckpoint()
  /// does.
  Status advanceCheckpoint();
  /// Waits for the checkpoint being written, if any, which is not the last one. Fails where it could not be
  /// written and the run is one of several ranks, which ends all of them.
  Status endCheckpoint();
  /// Waits for the checkpoint being written, if any.
  Status finishCheckpoint();
  /// Waits until the checkpoint being written has read the states.
  void waitUntilRead() const;
  template <typename Metrics> void writeMetrics(const Metrics &metrics);
  /// Agrees with all ranks on whether the next step is run, for which this one has got `batch`.
  Status agreeOnStep(const Status &batch);
  /// For what this rank waits for without the others: data, whoever reads its messages, its disk.
  Communicator::OwnTime ownTime() const { return parts_.executor.peers().ownTime(); }
  bool wantsToStop() const { return parts_.stopRequested && parts_.stopRequested(); }
  double flopsPerStep() const;

  TrainParts parts_;
  TrainOptions options_;
  TrainerState position_;
  StepRunner runner_;
  Progress progress_;
  uint64_t samplesPerStep_;
  uint64_t tokensPerSample_; ///< 1 for models without a sequence
  double startedAt_;         ///< seconds of the steady clock
  std::optional<double> startSeconds_;
  uint64_t checkpointStep_; ///< of the latest checkpoint, or where the run began
  bool stopped_ = false;    ///< a stop was requested on some rank
  bool warnedOfNoTargets_ = false;
};

} // namespace trainc
