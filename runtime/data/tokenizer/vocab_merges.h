// GPT-2's files vocab.json and merges.txt, and readers shared with tokenizer.json.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/bpe_model.h"

#include <nlohmann/json.hpp>

namespace trainc {

/// Reads GPT-2's tokenizer from the contents of its two files; the names are for messages. The token
/// <|endoftext|>, if the vocabulary has it, is an added token. Errors (kInvalidInput) name the file and the
/// line or entry.
Result<TokenizerDefinition> readVocabMerges(const std::string &vocabFile, std::string_view vocab,
                                            const std::string &mergesFile, std::string_view merges);

/// Reads a JSON object token -> id into definition.vocabulary.
Status readVocabulary(const std::string &file, const nlohmann::json &vocabulary, BpeDefinition &definition);

/// An id from 0 to 2^30 - 1; nothing for anything else.
std::optional<uint32_t> readTokenId(const nlohmann::json &id);

/// Adds the merge "left right"; `where` is for messages.
Status addMerge(const std::string &where, std::string_view merge, BpeDefinition &definition);

} // namespace trainc
