// The training loop: steps, metrics, evaluations, checkpoints.
#pragma once

#include "runtime/training/checkpoints.h"
#include "runtime/training/evaluate.h"
#include "runtime/training/nonfinite_cause.h"
#include "runtime/training/observer.h"
#include "runtime/training/step_runner.h"

#include <functional>

namespace trainc {

/// Options of the training loop.
struct TrainOptions {
  uint64_t steps = 0;           ///< total number of steps, including those before a resumption
  uint64_t evalEvery = 0;       ///< in steps; 0: only after the last one
  uint64_t checkpointEvery = 0; ///< in steps; 0: only after the last one
  bool skipNonFinite = false;   ///< continue after a step that was not applied, instead of failing
  double peakFlops = 0;         ///< of the device, for the MFU; 0: unknown
};

/// Resources of a training. The optional ones may be null, on all ranks or on none.
struct TrainParts {
  Executor &executor;
  const Dataset &dataset; ///< opened with the columns of the training entries
  const Observers &observers;
  Checkpoints *checkpoints = nullptr;
  Evaluator *evaluator = nullptr;
  /// Polled before each step and each evaluation batch; empty: never stops. A request on one rank stops all.
  std::function<bool()> stopRequested;
  std::function<double()> secondsSinceStart{}; ///< since the start of the process; empty: not reported
};

/// Trains from a position to the last step. The plan's states must hold the weights of that position. All
/// ranks run their loops together, and end at the same step.
class TrainLoop {
public:
  /// The fields step, seed, shuffle, samples and tokens of `start` say where to begin; the other fields are
  /// copied to checkpoints.
  TrainLoop(TrainParts parts, TrainOptions options, TrainerState start);

  /// Runs the remaining steps, or until a stop is requested or an error occurs; then writes a checkpoint of
  /// the last good step. Fails with kFailed if a step has a non-finite loss or gradient (the step changed
  /// nothing, and the message names the op), or if the last checkpoint cannot be written; with kInvalidInput
  /// on damaged data. If a rank dies during the training, no checkpoint is written: the others hold only
  /// shards of the weights, perhaps of different steps.
  Status run();

  /// Current position.
  const TrainerState &position() const { return position_; }
  /// Whether a stop requested on some rank ended the training.
  bool stopped() const { return stopped_; }

private:
  Status runSteps();
  Status runSteps(Loader &loader);
  /// Runs the next step, unless a stop is requested.
  Status runStep(Loader &loader);
  Result<StepBatch> nextBatch(Loader &loader) const;
  /// Number of the next step in the learning rate's schedule.
  uint64_t scheduleStep() const;
  /// Course of the learning rate in this run.
  LearningRateCourse courseOfRun() const;
  /// Records the course of the learning rate for checkpoints; warns if it differs from the recorded one.
  void beginCourse();
  /// Counts a step whose update was not applied because its gradients overflow.
  void skip(const StepResult &result);
  Status checkFinite(const StepScalars &scalars, const StepResult &result, const StepBatch &batch);
  /// Warns once of a target in a masked class if the loss is finite, but too large for anything else.
  Status checkMaskedTargets(const StepScalars &scalars, const StepResult &result, const StepBatch &batch);
  void report(const StepScalars &scalars, const StepResult &result, double seconds);
  Status evaluate();
  /// Writes the checkpoint of the run's end. If a failed rank left the run incomplete, only waits for the
  /// previous checkpoint.
  Status saveLast();
  Status waitForCopies();
  void note(const std::string &text) const { parts_.observers.tell(&RunObserver::onNote, text); }
  void warn(const std::string &text) const { parts_.observers.tell(&RunObserver::onWarning, text); }
  /// Agrees with all ranks whether to run the next step, for which this one has obtained `batch`.
  Status agreeOnStep(const Status &batch);
  /// Scope for waits that do not involve other ranks, such as waits for data.
  Communicator::LocalWait localWait() const { return parts_.executor.control().localWait(); }
  bool wantsToStop() const { return parts_.stopRequested && parts_.stopRequested(); }
  double flopsPerStep() const;

  TrainParts parts_;
  TrainOptions options_;
  TrainerState position_;
  StepRunner runner_;
  NonFiniteCause cause_;
  uint64_t samplesPerStep_;
  uint64_t tokensPerSample_; ///< 1 for models without a sequence
  std::optional<double> startSeconds_;
  bool stopped_ = false; ///< whether a stop was requested on some rank
  bool warnedOfNoTargets_ = false, warnedOfMaskedTarget_ = false;
  bool isNonFinite_ = false;   ///< the run ends because of numbers that are non-finite
  bool hasBadWeights_ = false; ///< some of them are weights
};

} // namespace trainc
