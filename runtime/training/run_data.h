// The data files of a run.
#pragma once

#include "runtime/data/dataset.h"
#include "runtime/exec/agreement.h"
#include "runtime/exec/executor.h"
#include "runtime/state/trainer_state.h"
#include "runtime/training/options.h"

namespace trainc {

/// Whose columns the data must have: those of the entries of a training step, or those of `eval`.
enum class DataUse { kTraining, kEvaluation };

/// Opens the files that the options name for that use. Errors (kInvalidInput) name the file.
Result<Dataset> openData(const Executor &executor, const RunOptions &options, DataUse use);

/// What data of these files, given by `option`, is compared by among ranks.
NamedValue identityOf(const char *option, const Dataset &data, std::span<const FileIdentity> files);

/// A resumed run goes on with the data that it began with, wherever that lies now. Fails (kInvalidInput),
/// saying what differs and how to go on all the same, where these are other files than `position` records.
Status checkDataOfCheckpoint(const Dataset &data, std::span<const FileIdentity> files,
                             const TrainerState &position);

/// What to say to somebody who wants a resumed run to go on otherwise than it began.
inline constexpr const char *kHowToAllow = "or add --allow-changes to go on otherwise on purpose";

} // namespace trainc
