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
  std::optional<double> perplexity; ///< exp(loss), if it is a mean negative log-likelihood
  double targets = 0;               ///< number (or weight) of the targets
  uint64_t samples = 0;
  std::optional<uint64_t> sentBytes; ///< sent by this rank in collectives, if there are several ranks
};

/// Metrics of an evaluation after step `step` that took `seconds`.
EvalMetrics metricsOf(const EvalResult &result, uint64_t step, double seconds);

/// Runs the plan's `eval` entry over a data set, in order. Changes no state of the plan. Ranks process
/// batches round-robin; results are added in batch order, so that all ranks get the result of a single rank.
class Evaluator {
public:
  /// `dataset` must have been opened with the entry's columns and outlive the evaluator. Reads every value of
  /// this rank's batches. Fails with kInvalidInput if the plan does not evaluate, if the data is too short,
  /// or on a value that a column does not allow.
  static Result<Evaluator> create(Executor &executor, const Dataset &dataset);

  /// Samples that run() covers: all, if the plan can pad the last batch (Input.pads), else those of whole
  /// batches.
  uint64_t samples() const { return samples_; }
  /// Calls `stopRequested`, if set, before each batch; returns nothing once it returns true on some rank.
  /// Fails with kFailed if there are no targets or the loss is non-finite, and like Executor::run().
  Result<std::optional<EvalResult>> run(const std::function<bool()> &stopRequested = {});

private:
  Evaluator(Executor &executor, const Dataset &dataset);
  Status checkValues();
  uint64_t batches() const { return (samples_ + batch_ - 1) / batch_; }
  std::span<const uint64_t> batchSamples(uint64_t batch); ///< stored in `indices_`
  Status explainNonFiniteLoss(double loss);
  Status feed(uint64_t batch);
  /// Evaluates one batch per rank from batch `first` on, and adds the results; returns true if some rank
  /// wants to stop.
  Result<bool> runRound(uint64_t first, bool wantsToStop, double &loss, double &targets);

  Executor &executor_;
  const Dataset &dataset_;
  uint64_t batch_; ///< samples per run of the entry
  uint64_t samples_;
  std::vector<uint64_t> indices_;               ///< samples of the current batch
  std::vector<std::vector<std::byte>> staging_; ///< by input, until the device has read it
};

} // namespace trainc
