// What a tokenizer.json puts around a text.
#pragma once

#include "runtime/data/tokenizer/bpe_definition.h"

#include <nlohmann/json.hpp>

namespace trainc {

/// Reads the post-processor into definition.around, as far as it concerns a text alone. Supported:
/// TemplateProcessing (Llama), BertProcessing, RobertaProcessing, ByteLevel (which adds nothing), and a
/// Sequence of these. Errors (kInvalidInput) name the piece.
Status readPostProcessor(const nlohmann::json &json, BpeDefinition &definition);

} // namespace trainc
