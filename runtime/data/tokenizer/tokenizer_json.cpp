#include "runtime/data/tokenizer/tokenizer_json.h"

#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/model_type.h"
#include "runtime/data/tokenizer/pipeline_json.h"
#include "runtime/data/tokenizer/post_processor.h"
#include "runtime/data/tokenizer/vocab_merges.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

#define TRAINC_TOKEN_MODEL(source, table) extern const TokenModelType table;
#include "runtime/data/tokenizer/models.def"
#undef TRAINC_TOKEN_MODEL

namespace {

using Json = nlohmann::json;

/// The version of all tokenizer.json files; the oldest ones have none.
constexpr std::string_view kVersion = "1.0";

/// The type of a model; older files leave it out.
std::string typeOfModel(const Json &model) {
  if (const std::string type = textOf(model, "type"); !type.empty())
    return type;
  if (field(model, "vocab").is_array())
    return "Unigram";
  if (model.contains("max_input_chars_per_word"))
    return "WordPiece";
  return model.contains("merges") ? "BPE" : "WordLevel";
}

constexpr const TokenModelType *kModels[] = {
#define TRAINC_TOKEN_MODEL(source, table) &table,
#include "runtime/data/tokenizer/models.def"
#undef TRAINC_TOKEN_MODEL
};

Result<const TokenModelType *> findModel(const std::string &file, const Json &json) {
  const Json &model = field(json, "model");
  if (!model.is_object())
    return invalidInput("{}: expected an object 'model'", file);
  const std::string type = typeOfModel(model);
  const auto *const found = std::ranges::find(kModels, type, &TokenModelType::name);
  if (found != std::end(kModels))
    return *found;
  const std::string normalizer = textOf(field(json, "normalizer"), "type");
  std::vector<std::string_view> names;
  std::ranges::transform(kModels, std::back_inserter(names), &TokenModelType::name);
  return invalidInput("{}: model: {}{} is not supported; expected {}", file, printable(type),
                      normalizer.empty() ? "" : fmt::format(" with the normalizer {}", printable(normalizer)),
                      fmt::join(names, " or "));
}

Status readAddedTokens(const std::string &file, const Json &tokens, TokenizerDefinition &definition) {
  if (tokens.is_null())
    return {};
  if (!tokens.is_array())
    return invalidInput("{}: expected an array 'added_tokens'", file);
  for (const Json &token : tokens) {
    const Json &content = field(token, "content");
    const auto id = readTokenId(field(token, "id"));
    if (!content.is_string() || !id)
      return invalidInput(
          "{}: added_tokens[{}]: expected an object with a string 'content' and an 'id' from 0 to 2^30 "
          "- 1, found {}",
          file, definition.added.size(), shortened(token));
    definition.added.push_back({content.get<std::string>(), *id, booleanOf(token, "normalized"),
                                booleanOf(token, "lstrip"), booleanOf(token, "rstrip"),
                                booleanOf(token, "single_word")});
  }
  return {};
}

} // namespace

Result<TokenizerDefinition> readTokenizerJson(const std::string &file, std::string_view text) {
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseJsonOnce(file, text));
  return readTokenizer(file, json);
}

Result<TokenizerDefinition> readTokenizer(const std::string &file, const Json &json) {
  if (const Json &version = field(json, "version"); !version.is_null() && version != kVersion)
    return invalidInput("{}: version: {} is not supported; expected \"{}\"", file, shortened(version),
                        kVersion);
  TokenizerDefinition definition;
  definition.file = file;
  const Json &model = field(json, "model");
  TRAINC_ASSIGN_OR_RETURN(const TokenModelType *type, findModel(file, json));
  TRAINC_RETURN_IF_ERROR(type->verify(file, model));
  TRAINC_RETURN_IF_ERROR(readNormalizer(field(json, "normalizer"), definition));
  TRAINC_RETURN_IF_ERROR(readPreTokenizer(field(json, "pre_tokenizer"), definition));
  TRAINC_RETURN_IF_ERROR(readDecoder(field(json, "decoder"), definition));
  TRAINC_ASSIGN_OR_RETURN(definition.model, type->read(file, model, definition.units));
  TRAINC_RETURN_IF_ERROR(readAddedTokens(file, field(json, "added_tokens"), definition));
  TRAINC_RETURN_IF_ERROR(readPostProcessor(field(json, "post_processor"), definition));
  return definition;
}

} // namespace trainc
