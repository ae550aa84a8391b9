// The tokenizer in a GGUF file.
#pragma once

#include "runtime/formats/gguf_file.h"

namespace trainc {

/// Writes the text of a tokenizer.json with the tokens, merges and added tokens of `tokenizer.ggml.*`, and
/// with the steps that `tokenizer.ggml.pre` names. Supported: byte-level BPE ("gpt2") and SentencePiece's BPE
/// ("llama"), whose merges follow from the scores. Fails with kInvalidInput if the file has no tokenizer, one
/// of another model, one with unknown steps, or a damaged one.
Result<std::string> tokenizerJsonOf(const GgufFile &file);

} // namespace trainc
