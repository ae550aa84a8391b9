// A training run of one rank, from the plan file to the generated text.
#pragma once

#include "plan/file/file.h"
#include "runtime/data/dataset.h"
#include "runtime/exec/executor.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
#include "runtime/training/starting_point.h"

#include <memory>

namespace trainc {

/// Environment of a run. All referenced objects must outlive the run.
struct RunContext {
  std::vector<RunObserver *> observers = {};
  /// This rank's communicator, made with communicatorNeeds(); null for plans of one rank. If the run of a
  /// rank fails, its caller must report that to the others by Communicator::fail().
  Communicator *communicator = nullptr;
  unsigned threads = 1; ///< number of threads that read and convert weights
  StopRequests stop = {};
  std::function<double()> secondsSinceStart = {}; ///< since the start of the process; empty: not reported
};

/// One rank's part of a run. All ranks of a plan create one and run it together.
class TrainingRun {
public:
  /// Binds the plan to the device. Fails like Executor::create(); errors name the plan's file.
  static Result<std::unique_ptr<TrainingRun>> create(const PlanFile &file, Device &device, RunOptions options,
                                                     RunContext context);

  /// Loads weights, trains or evaluates, then generates, as the options request. Call it once. If a stop is
  /// requested, a training with --checkpoint-dir writes a checkpoint and succeeds. A training without it, an
  /// evaluation and a generation fail.
  Status run();

  Executor &executor() { return *executor_; }
  /// Current position of the training.
  const TrainerState &position() const { return start_.position; }

private:
  TrainingRun(std::unique_ptr<Executor> executor, RunOptions options, RunContext context)
      : executor_(std::move(executor)), options_(std::move(options)), context_(std::move(context)),
        observers_(context_.observers, context_.communicator) {}

  struct Inputs;

  Status work();
  /// Trains from the starting point to --steps, or until a stop.
  Status train(Inputs &inputs);
  Status evaluate(Inputs &inputs);
  /// Records the data in the position, and announces it.
  Status recordData(const Dataset &dataset, std::vector<FileIdentity> files);
  void announce(const Dataset &dataset, uint64_t steps) const;
  /// Records the tokenizer of the data in the position. If the weights were trained with another tokenizer, a
  /// resumed run without --allow-changes fails (kInvalidInput), and every other run warns.
  Status recordTokenizerOfData();
  /// Warns of the first file that may be wrong, and of labels that may be wrong.
  void warnOfFiles(const Dataset &dataset) const;
  Status begin(const RunBegin &begin) const;
  void note(const std::string &text) const { observers_.tell(&RunObserver::onNote, text); }

  std::unique_ptr<Executor> executor_;
  RunOptions options_;
  RunContext context_;
  Observers observers_;
  StartingPoint start_;  ///< after a training, the position at its end
  bool stopped_ = false; ///< whether a stop on some rank ended the training
};

} // namespace trainc
