// What a run tells those who watch it, and two who do: a person at a console, and a file of metrics.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/log/log.h"
#include "runtime/log/metrics.h"
#include "runtime/log/progress.h"

#include <filesystem>
#include <optional>
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

/// Shows progress, evaluations, checkpoints, notes and warnings on a log. What ends a run is for whoever
/// started it to say.
class ConsoleObserver : public RunObserver {
public:
  explicit ConsoleObserver(Log &log) : log_(log) {}

  Status onBegin(const RunBegin &begin) override;
  void onStep(const StepMetrics &metrics) override;
  void onEvaluation(const EvalMetrics &metrics) override;
  void onCheckpoint(const std::filesystem::path &folder) override;
  void onEnd() override;
  void onNote(std::string_view text) override;
  void onWarning(std::string_view text) override;

private:
  Log &log_;
  std::optional<Progress> progress_; ///< of a training
  double startedAt_ = 0;             ///< seconds of the steady clock
};

/// Writes steps and evaluations to a metrics file.
class MetricsObserver : public RunObserver {
public:
  /// `log` is for the warning of a file that cannot be written any more, say on a full disk: that does not
  /// end the run; see isComplete().
  MetricsObserver(std::filesystem::path path, Log &log) : path_(std::move(path)), log_(log) {}

  /// Opens the file; see MetricsWriter::open().
  Status onBegin(const RunBegin &begin) override;
  void onStep(const StepMetrics &metrics) override { write(metrics); }
  void onEvaluation(const EvalMetrics &metrics) override { write(metrics); }

  /// Whether the file has all that this was told.
  bool isComplete() const { return isComplete_; }

private:
  template <typename Metrics> void write(const Metrics &metrics);

  std::filesystem::path path_;
  Log &log_;
  std::optional<MetricsWriter> writer_;
  bool isComplete_ = true;
};

} // namespace trainc
