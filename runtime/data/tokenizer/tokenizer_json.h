// Hugging Face's tokenizer.json.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/tokenizer_definition.h"

#include <nlohmann/json.hpp>

namespace trainc {

/// Reads the tokenizer.json `text`; `file` is for messages. Supported: the models of models.def, BPE without
/// dropout and affixes; the normalizers, pre-tokenizers and decoders of pipeline_json.h, and the
/// post-processors of post_processor.h. Truncation and padding are left out: no text is cut off.
/// Anything else is an error (kInvalidInput) that names the piece.
Result<TokenizerDefinition> readTokenizerJson(const std::string &file, std::string_view text);
/// Reads the parsed content of a tokenizer.json; `file` is for messages.
Result<TokenizerDefinition> readTokenizer(const std::string &file, const nlohmann::json &json);

} // namespace trainc
