// BERT's file vocab.txt.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/tokenizer_definition.h"

namespace trainc {

/// Reads BERT's tokenizer from the contents of its vocab.txt, a token per line, and of the
/// tokenizer_config.json beside it, or "{}": do_lower_case, strip_accents and tokenize_chinese_chars count.
/// The steps are those that Hugging Face takes for such files. The names are for messages. Errors
/// (kInvalidInput) name the file and line.
Result<TokenizerDefinition> readVocabText(const std::string &vocabFile, std::string_view vocab,
                                          const std::string &configFile, std::string_view config);

} // namespace trainc
