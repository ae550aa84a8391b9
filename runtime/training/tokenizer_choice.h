// Which tokenizer belongs to a run.
#pragma once

#include "runtime/data/tokenize.h"
#include "runtime/state/trainer_state.h"
#include "runtime/training/options.h"

namespace trainc {

/// The tokenizer that made the --data files, from the JSON beside them; nothing where none has one. Fails
/// (kInvalidInput) where two files were made by different ones.
Result<std::optional<TokenizerRecord>> tokenizerOfData(const RunOptions &options);

/// The tokenizer that a checkpoint's `position` names, if any.
std::optional<TokenizerRecord> recordedTokenizer(const TrainerState &position);
/// Has checkpoints from now on name the tokenizer.
void recordTokenizer(const TokenizerRecord &tokenizer, TrainerState &position);

/// Opens what --tokenizer names, else what made the data, else what `position` (of a checkpoint) records.
/// Fails (kInvalidInput) if one of bytes and files is named, and the other made the data or the checkpoint.
Result<std::unique_ptr<Tokenizer>> chooseTokenizer(const RunOptions &options, const TrainerState &position);

} // namespace trainc
