// Progress display: speed and remaining time.
#pragma once

#include "runtime/log/log.h"
#include "runtime/log/metrics.h"

#include <optional>

namespace trainc {

/// Shows steps on a log: redrawn in place on a terminal, as occasional lines elsewhere.
class Progress {
public:
  /// Shows steps firstStep+1 to lastStep. `unit` is "tok" or "samples".
  Progress(Log &log, uint64_t firstStep, uint64_t lastStep, std::string_view unit)
      : log_(log), firstStep_(firstStep), lastStep_(lastStep), unit_(unit) {}

  /// Whether to show a step that ends `seconds` after the start of the run: ten per second on a terminal;
  /// elsewhere about twenty lines in all and at least one every half minute. The first and the last step are
  /// always shown.
  bool due(uint64_t step, double seconds) const;
  /// Records a step, and shows it if due.
  void update(const StepMetrics &metrics, double seconds);

  /// Text of a step: "step 20/40  loss 5.1234  lr 6.00e-04  norm 1.23  20.3k tok/s  ETA 3:05". With several
  /// ranks it includes the share of the step in which this rank waited: "waits 3.1%".
  std::string line(const StepMetrics &metrics) const;

private:
  Log &log_;
  uint64_t firstStep_, lastStep_;
  std::string_view unit_;
  std::optional<double> shownAt_; ///< seconds
  double startedAt_ = 0;          ///< end of the first step, whose time is not typical
  double secondsPerStep_ = 0;     ///< mean since then, including evaluations and checkpoints
  double tokensPerSecond_ = 0;    ///< moving average
};

} // namespace trainc
