// Runs a training step: brings batch columns to the inputs of entries, sets scalars, and runs the entries.
#pragma once

#include "runtime/data/loader.h"
#include "runtime/exec/executor.h"
#include "runtime/schema/entry_names.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace trainc {

/// The columns that the given entries read, each once; entries that the plan lacks read none.
std::vector<ColumnSpec> entryColumns(const Executor &executor,
                                     std::initializer_list<std::string_view> entries);

/// Copies one entry's columns to the device; which column goes where is looked up once.
class BatchFeeder {
public:
  /// `dataset` must have been opened with the entry's columns.
  BatchFeeder(Executor &executor, std::string_view entry, const Dataset &dataset);

  /// Fills the inputs of BatchExtent::Step with the whole step, those of BatchExtent::Micro with micro-batch
  /// `micro`. The batch must live until Executor::synchronise().
  void feed(const StepBatch &batch, uint64_t micro) const;

private:
  struct Column {
    InputView input;
    size_t index; ///< in the data set
  };

  Executor &executor_;
  std::vector<Column> columns_;
};

/// What the host tells the device of a step.
struct StepScalars {
  uint64_t seed = 0;
  uint64_t step = 0; ///< 0-based
  float lr = 0;
};

/// What the device tells the host.
struct StepResult {
  float loss = 0;                       ///< mean over the non-ignored targets of the step
  float gradNorm = 0;                   ///< before clipping; NaN where the plan computes none
  float targets = 0;                    ///< number or weight of them; NaN where the plan does not count
  bool finite = true;                   ///< false: the update was not applied
  bool overflow = false;                ///< it was not, and a smaller loss scale may help
  std::optional<double> lossScale = {}; ///< of plans that change it: what the loss was multiplied by
  /// Of this rank; nothing if it is alone, or does not know.
  std::optional<CommunicationSeconds> communication = {};
  uint64_t sentBytes = 0; ///< by this rank, in collectives
};

/// Runs the entries of a training step in their order.
class StepRunner {
public:
  /// `executor`'s plan must be one that trains; see BatchFeeder for `dataset`.
  StepRunner(Executor &executor, const Dataset &dataset);

  /// How often a step of the plan runs an entry.
  static uint64_t runs(const Executor &executor, std::string_view entry);

  /// Fails (kFailed), naming the step, and the instruction if there is one, as the device does.
  Result<StepResult> run(const StepScalars &scalars, const StepBatch &batch);
  /// Runs a step again, instruction by instruction, and tells what wrote the first value that is not finite,
  /// on whichever rank. Fails as run() does.
  Result<std::optional<NonFinite>> replay(const StepScalars &scalars, const StepBatch &batch);

private:
  /// What the device tells, as it tells it.
  struct DeviceScalars;

  /// Sets scalars and inputs of each entry of the step in turn and calls `visit(name)`, which tells whether
  /// to go on.
  template <typename Visitor>
  Result<bool> visitEntries(const StepScalars &scalars, const StepBatch &batch, Visitor visit);
  /// Waits for the step, unless it has failed already, and locates errors in it.
  Status finish(const StepScalars &scalars, Status status);

  Executor &executor_;
  uint64_t accumulate_;
  BatchFeeder beginFeeder_, microFeeder_, lastFeeder_, updateFeeder_;
};

} // namespace trainc
