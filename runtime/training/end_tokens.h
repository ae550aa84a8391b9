// Tokens at which generation stops.
#pragma once

#include "plan/schema/plan_generated.h"
#include "runtime/training/tokenizer_choice.h"

#include <vector>

namespace trainc {

/// Returns the ids that end a text, all of them below `vocabulary`. If --end-token is given, it names the
/// only id. Otherwise the data, the plan's config.json, and the files beside the tokenizer
/// (generation_config.json, tokenizer_config.json), or the GGUF file that holds it, name ids. If they name
/// none, tokens with usual names are taken. Fails (kInvalidInput) if the tokenizer has no token --end-token,
/// and if one of these files is not JSON.
Result<std::vector<uint32_t>> findEndTokens(const ChosenTokenizer &chosen, const RunOptions &options,
                                            const fb::Plan &plan, uint64_t vocabulary);

} // namespace trainc
