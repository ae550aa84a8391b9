// Those who watch every run of trainrun: a person at a console, and a file of metrics.
#pragma once

#include "runtime/log/log.h"
#include "runtime/log/progress.h"
#include "runtime/training/observer.h"

#include <optional>

namespace trainc {

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
  /// end the run.
  MetricsObserver(std::filesystem::path path, Log &log) : path_(std::move(path)), log_(log) {}

  /// Opens the file; see MetricsWriter::open().
  Status onBegin(const RunBegin &begin) override;
  void onStep(const StepMetrics &metrics) override { write(metrics); }
  void onEvaluation(const EvalMetrics &metrics) override { write(metrics); }

private:
  template <typename Metrics> void write(const Metrics &metrics);

  std::filesystem::path path_;
  Log &log_;
  std::optional<MetricsWriter> writer_;
};

} // namespace trainc
