// What a run tells those who watch it.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/log/metrics.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace trainc {

/// What a run is about to do.
struct RunBegin {
  bool trains = false;        ///< false: it evaluates once
  bool resumed = false;       ///< it goes on from a checkpoint
  uint64_t step = 0;          ///< done before
  uint64_t lastStep = 0;      ///< of the training
  std::string_view unit = ""; ///< of StepMetrics::tokens: "tok" or "samples"
};

/// Watches the run of one rank. The run calls it on its own thread, between the plan's entries; what a call
/// takes counts as this rank's own time.
class RunObserver {
public:
  virtual ~RunObserver() = default;

  /// The run has its weights and its data, and is about to train or to evaluate. An error ends it.
  virtual Status onBegin(const RunBegin &) { return {}; }
  /// A step is done, or had a loss or gradient that is not finite.
  virtual void onStep(const StepMetrics &) {}
  virtual void onEvaluation(const EvalMetrics &) {}
  /// The checkpoint in this folder is complete.
  virtual void onCheckpoint(const std::filesystem::path &) {}
  /// What onBegin() announced has ended, well or not.
  virtual void onEnd() {}
  /// A piece of the text that is being generated. An error ends the run.
  virtual Status onText(std::string_view) { return {}; }

  /// What a person may want to know beside that.
  virtual void onNote(std::string_view) {}
  /// Something is wrong, and the run goes on.
  virtual void onWarning(std::string_view) {}
  /// The run has failed. Nothing follows.
  virtual void onFailure(const Status &) {}
};

/// All who watch a run, in the order in which they are told.
class Observers {
public:
  /// The observers and `communicator`, which may be null, must outlive it.
  explicit Observers(std::vector<RunObserver *> observers, Communicator *communicator = nullptr)
      : observers_(std::move(observers)), communicator_(communicator) {}

  /// Calls that member of each: `tell(&RunObserver::onStep, metrics)`.
  template <typename... Parameters, typename... Arguments>
  void tell(void (RunObserver::*what)(Parameters...), const Arguments &...arguments) const {
    const Communicator::OwnTime time(communicator_);
    for (RunObserver *each : observers_)
      (each->*what)(arguments...);
  }
  /// The same for members that may fail, up to the first that does.
  template <typename... Parameters, typename... Arguments>
  Status tell(Status (RunObserver::*what)(Parameters...), const Arguments &...arguments) const {
    const Communicator::OwnTime time(communicator_);
    for (RunObserver *each : observers_)
      TRAINC_RETURN_IF_ERROR((each->*what)(arguments...));
    return {};
  }

private:
  std::vector<RunObserver *> observers_;
  Communicator *communicator_;
};

} // namespace trainc
