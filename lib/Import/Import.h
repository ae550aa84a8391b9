// Model text from the config.json of a model in Hugging Face's form.
#pragma once

#include "base/status.h"
#include "lib/Import/Config.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc::importer {

/// A model's text, and the uses of the config's keys.
struct ImportedModel {
  std::string text;
  std::string architecture; ///< as "Qwen3ForCausalLM"
  int64_t parameters = 0;
  KeyUses uses;
};

/// Imports the model that `config`, the text of a config.json, describes. `file` is for messages.
/// `keepsDropout`: whether the text has the config's dropout. Fails (kInvalidInput) if the family is unknown,
/// if a value is invalid, or if a key that may change what the model computes is not carried over.
Result<ImportedModel> importModel(const std::string &file, std::string_view config, bool keepsDropout);

} // namespace trainc::importer
