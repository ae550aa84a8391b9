// Speed and remaining time of a run, and when to show them.
#pragma once

#include "runtime/log/log.h"
#include "runtime/log/metrics.h"

#include <optional>

namespace trainc {

/// Shows steps on a log: redrawn in place on a terminal, as sparse lines elsewhere.
class Progress {
public:
  /// Steps firstStep+1 to lastStep will be shown. `unit` is "tok" or "samples".
  Progress(Log &log, uint64_t firstStep, uint64_t lastStep, std::string_view unit)
      : log_(log), firstStep_(firstStep), lastStep_(lastStep), unit_(unit) {}

  /// Whether a step that ends `seconds` after the start of the run is to be shown: on a terminal ten a
  /// second, elsewhere about twenty lines in all, and one every half minute; the first and the last step
  /// always.
  bool due(uint64_t step, double seconds) const;
  /// Takes note of a step, and shows it when it is due.
  void update(const StepMetrics &metrics, double seconds);

  /// "step 20/40  loss 5.1234  lr 6.00e-04  norm 1.23  20.3k tok/s  ETA 3:05", among several ranks with the
  /// share of the step in which this one waited for others: "waits 3.1%".
  std::string line(const StepMetrics &metrics) const;

private:
  Log &log_;
  uint64_t firstStep_, lastStep_;
  std::string_view unit_;
  std::optional<double> shownAt_; ///< seconds
  double startedAt_ = 0;          ///< seconds at the end of the first step, whose time is not typical
  double secondsPerStep_ = 0;     ///< mean since then, evaluation and checkpoints included
  double tokensPerSecond_ = 0;    ///< moving average
};

} // namespace trainc
