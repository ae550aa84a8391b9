// Data files of a run.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/agreement.h"
#include "runtime/exec/executor.h"
#include "runtime/state/trainer_state.h"
#include "runtime/training/options.h"

namespace trainc {

/// Selects the entries whose columns the data must have: those of a training step, or `eval`.
enum class DataUse { kTraining, kEvaluation };

/// Opens the files that the options name for this use. Errors (kInvalidInput) name the file.
Result<Dataset> openData(const Executor &executor, const RunOptions &options, DataUse use);

/// Value by which ranks compare their data; `option` is the option that named the files.
NamedValue identityOf(const char *option, const Dataset &data, std::span<const FileIdentity> files);

/// Checks that a resumed run continues with its original data, wherever the files are now. Fails with
/// kInvalidInput if the files differ from those that `position` records; the message says what differs and
/// how to continue anyway.
Status checkDataOfCheckpoint(const Dataset &data, std::span<const FileIdentity> files,
                             const TrainerState &position);

/// Advice for resuming a run with changes.
inline constexpr const char *kHowToAllow = "or add --allow-changes to continue with the change";

} // namespace trainc
