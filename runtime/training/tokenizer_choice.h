// Chooses the tokenizer of a run.
#pragma once

#include "runtime/data/tokenize.h"
#include "runtime/state/trainer_state.h"
#include "runtime/training/options.h"

#include <map>

namespace trainc {

/// The tokenizer that made the data.
struct DataTokenizer {
  TokenizerRecord record;
  std::string option; ///< --data or --eval-data, whose first file with a JSON sidecar names it
};

/// The tokenizer that made the --data and --eval-data files, from their JSON sidecars; nothing if there are
/// none. Fails with kInvalidInput if two files were made by different tokenizers.
Result<std::optional<DataTokenizer>> tokenizerOfData(const RunOptions &options);

/// The tokenizer recorded in the `environment` of a checkpoint's TrainerState, if any.
std::optional<TokenizerRecord> recordedTokenizer(const std::map<std::string, std::string> &environment);
/// Records the tokenizer in the position for later checkpoints.
void recordTokenizer(const TokenizerRecord &tokenizer, TrainerState &position);

struct ChosenTokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
  std::string name;     ///< as of openTokenizer()
  std::string endToken; ///< content of the token that ends each text of the data; empty if none is known
};

/// Opens the tokenizer of --tokenizer; without that option, the tokenizer of the data or, if unknown, the one
/// recorded in `position` (of a checkpoint). Fails with kInvalidInput if --tokenizer is bytes and the data or
/// checkpoint used files, or vice versa.
Result<ChosenTokenizer> chooseTokenizer(const RunOptions &options, const TrainerState &position);

} // namespace trainc
