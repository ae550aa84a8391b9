#include "runtime/log/progress.h"

#include "base/units.h"

#include <algorithm>

namespace trainc {

namespace {

constexpr double kTerminalInterval = 0.1; // seconds
constexpr double kPlainInterval = 30;     // seconds
constexpr uint64_t kPlainLines = 20;
/// Weight of the newest step in the moving average.
constexpr double kNewest = 0.1;

} // namespace

bool Progress::due(uint64_t step, double seconds) const {
  if (!shownAt_ || step == lastStep_)
    return true;
  if (log_.isTerminal())
    return seconds - *shownAt_ >= kTerminalInterval;
  const uint64_t interval = std::max<uint64_t>(1, (lastStep_ - firstStep_) / kPlainLines);
  return step % interval == 0 || seconds - *shownAt_ >= kPlainInterval;
}

void Progress::update(const StepMetrics &metrics, double seconds) {
  const uint64_t done = metrics.step - firstStep_;
  const double weight = done <= 2 ? 1 : kNewest;
  tokensPerSecond_ += weight * (metrics.tokensPerSecond - tokensPerSecond_);
  if (done <= 1) {
    startedAt_ = seconds;
    secondsPerStep_ = metrics.stepSeconds;
  } else {
    secondsPerStep_ = (seconds - startedAt_) / static_cast<double>(done - 1);
  }
  if (!due(metrics.step, seconds))
    return;
  shownAt_ = seconds;
  if (log_.isTerminal())
    log_.progress(line(metrics));
  else if (log_.enabled(LogLevel::kInfo))
    log_.info("{}", line(metrics));
}

std::string Progress::line(const StepMetrics &metrics) const {
  std::string text =
      fmt::format("step {}/{}  loss {:.4f}  lr {:.2e}  norm {:.3g}  {} {}/s", metrics.step, lastStep_,
                  metrics.loss, metrics.lr, metrics.gradNorm, formatCount(tokensPerSecond_), unit_);
  if (metrics.mfu)
    text += fmt::format("  MFU {:.1f}%", *metrics.mfu * 100);
  if (metrics.communication) {
    const auto &[waited, inFlight, exposed] = *metrics.communication;
    text += fmt::format("  waits {:.1f}%", waited / metrics.stepSeconds * 100);
    if (inFlight > 0)
      text += fmt::format("  exposed {:.0f}%", exposed / inFlight * 100);
  }
  if (metrics.step < lastStep_)
    text += fmt::format("  ETA {}",
                        formatDuration(secondsPerStep_ * static_cast<double>(lastStep_ - metrics.step)));
  return text;
}

} // namespace trainc
