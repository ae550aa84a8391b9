// Hugging Face's tokenizer.json.
#pragma once

#include "runtime/base/status.h"
#include "runtime/data/tokenizer/bpe_definition.h"

namespace trainc {

/// Reads the byte-level BPE that the tokenizer.json `text` describes; `file` is for messages. Supported:
/// model BPE without dropout, affixes and byte fallback (ignore_merges too); pre-tokenizer ByteLevel, alone
/// or after a Split by one of the patterns of split_pattern.h; no normalizer; added tokens without
/// single_word. The post-processor is left out: no token is added around a text. Anything else is an error
/// (kInvalidInput) that names the piece.
Result<BpeDefinition> readTokenizerJson(const std::string &file, std::string_view text);

} // namespace trainc
