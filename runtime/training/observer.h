// Interface to observers of a run, and two observers: console and metrics file.
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

/// Announcement of a run.
struct RunBegin {
  bool trains = false;        ///< false: evaluates once
  bool resumed = false;       ///< continues from a checkpoint
  uint64_t step = 0;          ///< steps done before
  uint64_t lastStep = 0;      ///< last step of the training
  std::string_view unit = ""; ///< unit of StepMetrics::tokens: "tok" or "samples"
};

/// Observes the run of one rank. Called on the run's own thread, between the plan's entries; the time of a
/// call counts as this rank's own time.
class RunObserver {
public:
  virtual ~RunObserver() = default;

  /// The run has loaded weights and data, and is about to train or evaluate. An error ends the run.
  virtual Status onBegin(const RunBegin &) { return {}; }
  /// A step is done; its loss or gradient may be non-finite.
  virtual void onStep(const StepMetrics &) {}
  virtual void onEvaluation(const EvalMetrics &) {}
  /// The checkpoint in this folder is complete.
  virtual void onCheckpoint(const std::filesystem::path &) {}
  /// The run announced by onBegin() has ended, successfully or not.
  virtual void onEnd() {}
  /// A piece of generated text. An error ends the run.
  virtual Status onText(std::string_view) { return {}; }

  /// Additional information for people.
  virtual void onNote(std::string_view) {}
  /// A problem that does not end the run.
  virtual void onWarning(std::string_view) {}
  /// The run has failed. No further call follows.
  virtual void onFailure(const Status &) {}
};

/// All observers of a run, called in order.
class Observers {
public:
  /// The observers and `communicator`, which may be null, must outlive this object.
  explicit Observers(std::vector<RunObserver *> observers, Communicator *communicator = nullptr)
      : observers_(std::move(observers)), communicator_(communicator) {}

  /// Calls a member of each observer: `tell(&RunObserver::onStep, metrics)`.
  template <typename... Parameters, typename... Arguments>
  void tell(void (RunObserver::*what)(Parameters...), const Arguments &...arguments) const {
    const Communicator::LocalWait time(communicator_);
    for (RunObserver *each : observers_)
      (each->*what)(arguments...);
  }
  /// Overload for members that may fail; stops at the first error.
  template <typename... Parameters, typename... Arguments>
  Status tell(Status (RunObserver::*what)(Parameters...), const Arguments &...arguments) const {
    const Communicator::LocalWait time(communicator_);
    for (RunObserver *each : observers_)
      TRAINC_RETURN_IF_ERROR((each->*what)(arguments...));
    return {};
  }
  /// Warns on rank 0 of what all ranks have in common.
  void warnOnRank0(std::string_view text) const {
    if (!communicator_ || communicator_->rank() == 0)
      tell(&RunObserver::onWarning, text);
  }

private:
  std::vector<RunObserver *> observers_;
  Communicator *communicator_;
};

/// Shows progress, evaluations, checkpoints, notes and warnings on a log. The caller of the run reports its
/// final error.
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
  double startedAt_ = 0;             ///< in steadySeconds()
};

/// Writes steps and evaluations to a metrics file.
class MetricsObserver : public RunObserver {
public:
  /// If the file cannot be written any more, for example on a full disk, `log` receives a warning and the run
  /// continues. See isComplete().
  MetricsObserver(std::filesystem::path path, Log &log) : path_(std::move(path)), log_(log) {}

  /// Opens the file; see MetricsWriter::open().
  Status onBegin(const RunBegin &begin) override;
  void onStep(const StepMetrics &metrics) override { write(metrics); }
  void onEvaluation(const EvalMetrics &metrics) override { write(metrics); }

  /// Whether everything was written to the file.
  bool isComplete() const { return isComplete_; }

private:
  template <typename Metrics> void write(const Metrics &metrics);

  std::filesystem::path path_;
  Log &log_;
  std::optional<MetricsWriter> writer_;
  bool isComplete_ = true;
};

} // namespace trainc
