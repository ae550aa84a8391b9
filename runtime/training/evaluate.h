// The mean loss over evaluation data.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/executor.h"
#include "runtime/log/metrics.h"

#include <functional>
#include <optional>

namespace trainc {

struct EvalResult {
  double loss = 0;                  ///< mean over the non-ignored targets of all samples
  std::optional<double> perplexity; ///< exp(loss), where all losses are cross-entropies of the same labels
  double targets = 0;               ///< number (or weight) of the targets
  uint64_t samples = 0;
  std::optional<uint64_t> sentBytes; ///< by this rank, in collectives, where there are several ranks
};

/// What is told of an evaluation after that step, which took that long.
EvalMetrics metricsOf(const EvalResult &result, uint64_t step, double seconds);

/// Runs the plan's `eval` entry over a data set, in order. Changes no state of the plan. Ranks take batches
/// in turn; what they find is added in the order of the batches, so that all get what one rank alone would.
class Evaluator {
public:
  /// `dataset` must have been opened with the entry's columns and outlive the evaluator. Fails
  /// (kInvalidInput) when the plan does not evaluate, when the data is too short, or on a value that a column
  /// does not allow: every value of this rank's batches is read.
  static Result<Evaluator> create(Executor &executor, const Dataset &dataset);

  /// Samples that run() covers: all, where the plan says how to fill up the last batch (Input.pads), else
  /// those of the whole batches.
  uint64_t samples() const { return samples_; }
  /// Asks `stopRequested`, where given, before each batch; empty once it says yes on some rank. Fails
  /// (kFailed) when there is no target at all, or the loss is not finite, and as Executor::run() does.
  Result<std::optional<EvalResult>> run(const std::function<bool()> &stopRequested = {});

private:
  Evaluator(Executor &executor, const Dataset &dataset);
  Status checkValues();
  uint64_t batches() const { return (samples_ + batch_ - 1) / batch_; }
  std::span<const uint64_t> batchSamples(uint64_t batch); ///< in `indices_`
  Status refuseLoss(double loss);
  Status feed(uint64_t batch);
  /// Evaluates the batches from `first` on, one on each rank, and adds what they found; true: some rank wants
  /// to stop.
  Result<bool> runRound(uint64_t first, bool wantsToStop, double &loss, double &targets);

  Executor &executor_;
  const Dataset &dataset_;
  uint64_t batch_; ///< samples per run of the entry
  uint64_t samples_;
  std::vector<uint64_t> indices_;               ///< of the batch being fed
  std::vector<std::vector<std::byte>> staging_; ///< by input, until the device has it
};

} // namespace trainc
