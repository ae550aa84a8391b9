// Hugging Face's tokenizer.json.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/bpe_definition.h"

namespace trainc {

/// Reads the BPE that the tokenizer.json `text` describes; `file` is for messages. Supported: model BPE
/// without dropout and affixes; the normalizers, pre-tokenizers and decoders of pipeline_json.h, and the
/// post-processors of post_processor.h. Truncation and padding are left out: no text is cut off.
/// Anything else is an error (kInvalidInput) that names the piece.
Result<BpeDefinition> readTokenizerJson(const std::string &file, std::string_view text);

} // namespace trainc
