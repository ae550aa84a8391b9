// Model text from the config.json of a model in Hugging Face's form.
#pragma once

#include "base/status.h"
#include "lib/Import/Config.h"
#include "lib/Import/Head.h"

#include <optional>
#include <string>
#include <string_view>

namespace trainc::importer {

/// A model's text, and the uses of the config's keys.
struct ImportedModel {
  std::string text;
  std::string architecture; ///< as "Qwen3ForCausalLM"
  int64_t parameters = 0;
  KeyUses uses;
};

struct ImportOptions {
  Reading reading;
  std::optional<Task> task;      ///< default: that of the class of the weights
  std::optional<int64_t> labels; ///< classes; default: those of the config
  bool hasTokenTypes = false;    ///< whether a column has the types of tokens
  bool isPacked = false;         ///< whether columns tell the texts of a row apart
};

/// Names of tasks, as `--task` has them.
struct TaskName {
  Task task;
  const char *name;
};
inline constexpr TaskName kTaskNames[] = {{Task::CausalLm, "causal-lm"},
                                          {Task::MaskedLm, "masked-lm"},
                                          {Task::Classification, "classification"},
                                          {Task::TokenClassification, "token-classification"}};

/// Imports the model that `config`, the text of a config.json, describes. `file` is for messages.
/// Fails (kInvalidInput) if the family is unknown, if it has no such task, if a value is invalid, or if a key
/// that may change what the model computes is not carried over.
Result<ImportedModel> importModel(const std::string &file, std::string_view config,
                                  const ImportOptions &options);

} // namespace trainc::importer
