// Tokens at which generation stops.
#pragma once

#include "runtime/schema/plan_generated.h"
#include "runtime/training/tokenizer_choice.h"

#include <vector>

namespace trainc {

/// The ids that end a text: the one that --end-token names; else those that the data, the plan's config.json,
/// or the files beside the tokenizer (generation_config.json, tokenizer_config.json) name; else those of
/// usual names. All are below `vocabulary`. Fails (kInvalidInput) if the tokenizer has no token --end-token,
/// and on files that are no JSON.
Result<std::vector<uint32_t>> findEndTokens(const ChosenTokenizer &chosen, const RunOptions &options,
                                            const fb::Plan &plan, uint64_t vocabulary);

} // namespace trainc
