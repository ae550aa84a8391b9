#include "runtime/training/observer.h"

#include "base/clock.h"
#include "base/units.h"

namespace trainc {

namespace {

/// "evaluation loss 0.1572, perplexity 1.17 (1000 samples, 0.01s)", with `digits` digits.
std::string describe(const EvalMetrics &metrics, int digits) {
  const std::string perplexity =
      metrics.perplexity ? fmt::format(", perplexity {:.{}g}", *metrics.perplexity, digits) : "";
  return fmt::format("evaluation loss {:.{}f}{} ({} samples, {})", metrics.loss, digits, perplexity,
                     metrics.samples, formatDuration(metrics.seconds));
}

} // namespace

Status ConsoleObserver::onBegin(const RunBegin &begin) {
  startedAt_ = steadySeconds();
  if (begin.trains)
    progress_.emplace(log_, begin.step, begin.lastStep, begin.unit);
  return {};
}

void ConsoleObserver::onStep(const StepMetrics &metrics) {
  progress_->update(metrics, steadySeconds() - startedAt_);
}

/// A single evaluation, without training, is printed with more digits, and at any level.
void ConsoleObserver::onEvaluation(const EvalMetrics &metrics) {
  if (progress_)
    log_.info("step {}: {}", metrics.step, describe(metrics, 4));
  else
    log_.answer("{}", describe(metrics, 6));
}

void ConsoleObserver::onCheckpoint(const std::filesystem::path &folder) {
  log_.info("checkpoint {}", folder.string());
}

void ConsoleObserver::onEnd() { log_.endProgress(); }

void ConsoleObserver::onNote(std::string_view text) { log_.info("{}", text); }

void ConsoleObserver::onWarning(std::string_view text) { log_.warning("{}", text); }

Status MetricsObserver::onBegin(const RunBegin &begin) {
  TRAINC_ASSIGN_OR_RETURN(
      MetricsWriter opened,
      MetricsWriter::open(path_, begin.resumed ? std::optional(begin.step) : std::nullopt));
  writer_.emplace(std::move(opened));
  if (!writer_->warning().empty())
    log_.warning("{}", writer_->warning());
  return {};
}

template <typename Metrics> void MetricsObserver::write(const Metrics &metrics) {
  if (!writer_)
    return;
  if (const Status status = writer_->write(metrics); !status.ok()) {
    log_.warning("{}; no more metrics are written", status.message());
    writer_.reset();
    std::error_code unknown;
    isComplete_ = std::filesystem::is_fifo(path_, unknown); // the reader of a pipe may close it
  }
}

} // namespace trainc
