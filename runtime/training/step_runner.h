// Runs a training step: copies batch columns to the entries' inputs, sets scalars, and runs the entries.
#pragma once

#include "plan/schema/entry_names.h"
#include "plan/schema/plan_generated.h"
#include "runtime/data/loader.h"
#include "runtime/exec/executor.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace trainc {

/// Columns that the given entries read, without duplicates; missing entries read none.
std::vector<ColumnSpec> entryColumns(const Executor &executor,
                                     std::initializer_list<std::string_view> entries);

/// Copies one entry's columns to the device; the mapping of columns to inputs is computed once.
class BatchFeeder {
public:
  /// `dataset` must have been opened with the entry's columns.
  BatchFeeder(Executor &executor, std::string_view entry, const Dataset &dataset);

  /// Fills inputs of BatchExtent::Step with the whole step, and those of BatchExtent::Micro with micro-batch
  /// `micro`. The batch must stay alive until Executor::synchronise().
  void feed(const StepBatch &batch, uint64_t micro) const;

private:
  struct Column {
    InputView input;
    size_t index; ///< column index in the data set
  };

  Executor &executor_;
  std::vector<Column> columns_;
};

/// Scalars of a step that the host sends to the device.
struct StepScalars {
  uint64_t seed = 0;
  uint64_t step = 0; ///< 0-based
  float lr = 0;
};

/// Results of a step that the device sends to the host.
struct StepResult {
  float loss = 0;     ///< mean over the non-ignored targets of the step
  float gradNorm = 0; ///< before clipping; NaN if the plan computes none
  float targets = 0;  ///< number or weight of the targets; NaN if the plan does not count them
  bool updateApplied = true;
  bool overflow = false; ///< whether the update was not applied because of an overflow, which a smaller loss
                         ///< scale may avoid
  std::optional<double> lossScale = {}; ///< factor of the loss, in plans with a dynamic loss scale
  /// Communication times of this rank; nothing for a single rank, or if unknown.
  std::optional<CommunicationSeconds> communication = {};
  uint64_t sentBytes = 0; ///< sent by this rank in collectives
};

/// Runs the entries of a training step in order.
class StepRunner {
public:
  /// The plan of `executor` must train; see BatchFeeder for `dataset`.
  StepRunner(Executor &executor, const Dataset &dataset);

  /// Fails with kFailed like the device; the message names the step, and the instruction if known.
  Result<StepResult> run(const StepScalars &scalars, const StepBatch &batch);
  /// Repeats a step instruction by instruction, and returns the instruction that wrote the first non-finite
  /// value, on any rank. Fails like run().
  Result<std::optional<NonFinite>> replay(const StepScalars &scalars, const StepBatch &batch);

private:
  /// Results in the device's format.
  struct DeviceScalars;

  /// Sets scalars and inputs of each entry of the step in turn and calls `visit(name)`, which returns whether
  /// to continue.
  template <typename Visitor>
  Result<bool> visitEntries(const StepScalars &scalars, const StepBatch &batch, Visitor visit);
  /// Waits for the step, unless it has already failed, and prefixes errors with the step.
  Status finish(const StepScalars &scalars, Status status);

  Executor &executor_;
  uint64_t accumulate_;
  BatchFeeder beginFeeder_, microFeeder_, lastFeeder_, updateFeeder_;
};

} // namespace trainc
