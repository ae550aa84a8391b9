// The run of a training: steps, metrics, evaluations, checkpoints.
#pragma once

#include "runtime/training/checkpoints.h"
#include "runtime/training/evaluate.h"
#include "runtime/training/observer.h"
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

/// What a training runs on. The optional ones may be null, on all ranks or on none.
struct TrainParts {
  Executor &executor;
  const Dataset &dataset; ///< opened with the columns of the training entries
  const Observers &observers;
  Checkpoints *checkpoints = nullptr;
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
  Result<std::string> describeBadData(const StepBatch &batch) const;
  /// Counts a step whose update was not applied, since its gradients overflow.
  void skip(const StepResult &result);
  Status checkFinite(const StepScalars &scalars, const StepResult &result, const StepBatch &batch);
  void report(const StepScalars &scalars, const StepResult &result, double seconds);
  Status evaluate();
  /// Writes the checkpoint of where the run ends; of a run that a rank has left half done, only waits for the
  /// one before.
  Status saveLast();
  Status settle();
  void note(const std::string &text) const { parts_.observers.tell(&RunObserver::onNote, text); }
  void warn(const std::string &text) const { parts_.observers.tell(&RunObserver::onWarning, text); }
  /// Agrees with all ranks on whether the next step is run, for which this one has got `batch`.
  Status agreeOnStep(const Status &batch);
  /// For what this rank waits for without the others, such as data.
  Communicator::OwnTime ownTime() const { return parts_.executor.control().ownTime(); }
  bool wantsToStop() const { return parts_.stopRequested && parts_.stopRequested(); }
  double flopsPerStep() const;

  TrainParts parts_;
  TrainOptions options_;
  TrainerState position_;
  StepRunner runner_;
  uint64_t samplesPerStep_;
  uint64_t tokensPerSample_; ///< 1 for models without a sequence
  std::optional<double> startSeconds_;
  bool stopped_ = false; ///< a stop was requested on some rank
  bool warnedOfNoTargets_ = false;
};

} // namespace trainc
