// Reading of the tokens that tokenizer.json adds around a text.
#pragma once

#include "runtime/data/tokenizer/tokenizer_definition.h"

#include <nlohmann/json.hpp>

namespace trainc {

/// Reads the post-processor into definition.around, for single texts only. Supported: TemplateProcessing
/// (Llama), BertProcessing, RobertaProcessing, ByteLevel (which adds nothing), and a Sequence of these.
/// Errors (kInvalidInput) name the piece.
Status readPostProcessor(const nlohmann::json &json, TokenizerDefinition &definition);

} // namespace trainc
