// A type of model in tokenizer.json.
#pragma once

#include "base/status.h"
#include "runtime/data/tokenizer/token_model.h"
#include "runtime/data/tokenizer/tokenizer_definition.h"

#include <nlohmann/json.hpp>

namespace trainc {

/// Reads the models of one type. Errors (kInvalidInput) name `file` and the entry.
struct TokenModelType {
  std::string_view name; ///< the value of "type"
  /// Fails if the model has a setting that is not supported. Called before the other steps are read.
  Status (*verify)(const std::string &file, const nlohmann::json &model);
  /// `units` are those of the pre-tokenizer's words.
  Result<std::unique_ptr<TokenModel>> (*read)(const std::string &file, const nlohmann::json &model,
                                              Units units);
};

} // namespace trainc
