// A training run: one rank's, from the plan file to the generated text.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/file.h"
#include "runtime/training/observer.h"
#include "runtime/training/options.h"
#include "runtime/training/starting_point.h"

#include <memory>

namespace trainc {

/// Where and for whom a run runs. What it points to must outlive the run.
struct RunContext {
  std::vector<RunObserver *> observers = {};
  /// This rank's connection to the others, with communicatorNeeds(); null for plans of one rank. When one
  /// rank fails, whoever runs it tells the others by Communicator::fail().
  Communicator *communicator = nullptr;
  unsigned threads = 1; ///< that read and convert weights
  StopRequests stop = {};
  std::function<double()> secondsSinceStart = {}; ///< of the process; empty: not reported
};

/// What one rank does of a run. All ranks of a plan make one and run it together.
class TrainingRun {
public:
  /// Binds the plan to the device. Errors (those of Executor::create()) name the plan's file.
  static Result<std::unique_ptr<TrainingRun>> create(const PlanFile &file, Device &device, RunOptions options,
                                                     RunContext context);

  /// Does what the options ask for: gets the weights, trains or evaluates, then generates. Once. A stop ends
  /// a training well, after a checkpoint; without --checkpoint-dir, and in an evaluation or a generation, it
  /// is a failure.
  Status run();

  Executor &executor() { return *executor_; }
  /// Where the training stands.
  const TrainerState &position() const { return start_.position; }

private:
  TrainingRun(std::unique_ptr<Executor> executor, RunOptions options, RunContext context)
      : executor_(std::move(executor)), options_(std::move(options)), context_(std::move(context)),
        observers_(context_.observers, context_.communicator) {}

  Status work();
  /// From the starting point to --steps, or until a stop.
  Status train();
  Status evaluate();
  /// Fills in what checkpoints record, and tells what will be trained on.
  Status recordData(const Dataset &dataset, std::vector<FileIdentity> files);
  Status announce(const Dataset &dataset, uint64_t steps);
  Status begin(const RunBegin &begin) const;
  void note(const std::string &text) const { observers_.tell(&RunObserver::onNote, text); }
  void warn(const std::string &text) const { observers_.tell(&RunObserver::onWarning, text); }

  std::unique_ptr<Executor> executor_;
  RunOptions options_;
  RunContext context_;
  Observers observers_;
  StartingPoint start_;  ///< after a training, where it ended
  bool stopped_ = false; ///< a stop on some rank ended the training
};

} // namespace trainc
