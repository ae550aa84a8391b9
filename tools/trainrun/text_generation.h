// Generation of text: a tokenizer around the generator.
#pragma once

#include "runtime/exec/generate.h"
#include "tools/trainrun/options.h"

namespace trainc {

/// The name of the tokenizer that made the first of the --data files, from the JSON beside it; empty when
/// there is none.
Result<std::string> tokenizerOfData(const Options &options);

/// Continues --generate's prompt on standard output with the weights that `executor` holds. `recorded` is the
/// tokenizer that the checkpoint was trained with, or empty. Fails (kFailed) when a signal ends it.
Status generateText(Executor &executor, const Options &options, uint64_t seed, const std::string &recorded);

} // namespace trainc
