// Training as the command line asks for it: data, metrics and checkpoints around the loop.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/executor.h"
#include "runtime/log/log.h"
#include "runtime/log/metrics.h"
#include "runtime/training/rank.h"
#include "runtime/training/weights.h"

namespace trainc {

/// Whose columns the data must have: those of the entries of a training step, or those of `eval`.
enum class DataUse { kTraining, kEvaluation };

/// Opens data files for that use. Errors (kInvalidInput) name the file.
Result<Dataset> openData(const Executor &executor, const std::vector<std::string> &files, DataUse use,
                         const RunOptions &options);

/// Opens --metrics; empty when it was not given, and on all ranks but the one that writes.
Result<std::optional<MetricsWriter>> openMetrics(const RunOptions &options, const Rank &rank,
                                                 const StartingPoint &start);

/// Trains from `start` to --steps, or until a signal; `start` is then where training ended. True: a signal,
/// to whichever rank, ended it.
Result<bool> trainModel(Executor &executor, const RunOptions &options, const Rank &rank, StartingPoint &start,
                        Log &log);

} // namespace trainc
