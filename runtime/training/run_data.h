// The data files of a run.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/agreement.h"
#include "runtime/exec/executor.h"
#include "runtime/training/options.h"

namespace trainc {

/// Whose columns the data must have: those of the entries of a training step, or those of `eval`.
enum class DataUse { kTraining, kEvaluation };

/// Opens the files that the options name for that use. Errors (kInvalidInput) name the file.
Result<Dataset> openData(const Executor &executor, const RunOptions &options, DataUse use);

/// What `data`, given by `option`, is compared by among ranks.
Result<NamedValue> identityOf(const char *option, const Dataset &data);

} // namespace trainc
