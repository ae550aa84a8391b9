// Brings batch columns to the inputs of an entry.
#pragma once

#include "runtime/data/loader.h"
#include "runtime/exec/executor.h"

#include <initializer_list>

namespace trainc {

/// The columns that the given entries read, each once; entries that the plan lacks read none.
std::vector<ColumnSpec> entryColumns(const Executor &executor,
                                     std::initializer_list<std::string_view> entries);

/// Copies one entry's columns to the device; which column goes where is looked up once.
class BatchFeeder {
public:
  /// `dataset` must have been opened with the entry's columns.
  BatchFeeder(Executor &executor, std::string_view entry, const Dataset &dataset);

  /// Fills the inputs of Extent::Step with the whole step, those of Extent::Micro with micro-batch `micro`.
  /// The batch must live until Executor::synchronise().
  void feed(const StepBatch &batch, uint64_t micro) const;

private:
  struct Column {
    InputView input;
    size_t index; ///< in the data set
  };

  Executor &executor_;
  std::vector<Column> columns_;
};

} // namespace trainc
