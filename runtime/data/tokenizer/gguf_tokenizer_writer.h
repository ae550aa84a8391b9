// Writes the tokenizer of a Hugging Face folder as metadata of a GGUF file.
#pragma once

#include "runtime/formats/gguf_writer.h"

#include <filesystem>

namespace trainc {

/// Whether the folder has a tokenizer.json.
bool hasTokenizer(const std::filesystem::path &folder);

/// Adds `tokenizer.ggml.*` and the chat template, as llama.cpp's converter does, from the folder's
/// tokenizer.json, tokenizer_config.json, generation_config.json and chat_template.jinja. Unlike the
/// converter, takes the end of a turn (eot) from generation_config.json: its first id that is not the end of
/// a text. Ids from the number of tokens to `vocabulary`, the rows of the embedding, become unused tokens.
///
/// Supported are the tokenizers that tokenizerJsonOf() reads. Fails with kInvalidInput if the steps before
/// the model have no name in llama.cpp, if the merges do not follow from scores, or if a token exceeds
/// `vocabulary`.
Status addTokenizer(const std::filesystem::path &folder, uint64_t vocabulary, GgufHeader &header);

} // namespace trainc
