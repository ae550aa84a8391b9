// Training as the command line asks for it: data, metrics and checkpoints around the loop.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/executor.h"
#include "runtime/log/log.h"
#include "runtime/log/metrics.h"
#include "tools/trainrun/weights.h"

#include <initializer_list>

namespace trainc {

inline constexpr std::initializer_list<std::string_view> kTrainEntries = {"begin_step", "micro_step",
                                                                          "update"};
inline constexpr std::initializer_list<std::string_view> kEvalEntries = {"eval"};

/// Opens data files for the columns of the given entries. Errors (kInvalidInput) name the file.
Result<Dataset> openData(const Executor &executor, const std::vector<std::string> &files,
                         std::initializer_list<std::string_view> entries, const Options &options);

/// Opens --metrics; empty when it was not given.
Result<std::optional<MetricsWriter>> openMetrics(const Options &options, const StartingPoint &start);

/// Trains from `start` to --steps, or until a signal; `start` is then where training ended.
Status trainModel(Executor &executor, const Machine &machine, const Options &options, StartingPoint &start,
                  Log &log);

} // namespace trainc
