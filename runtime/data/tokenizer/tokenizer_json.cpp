#include "runtime/data/tokenizer/tokenizer_json.h"

#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/pipeline_json.h"
#include "runtime/data/tokenizer/post_processor.h"
#include "runtime/data/tokenizer/vocab_merges.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace trainc {

namespace {

using Json = nlohmann::json;

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

/// Settings that BPE has here must have their usual values.
Status verifyBpe(const std::string &file, const Json &model) {
  if (const Json &dropout = field(model, "dropout"); !dropout.is_null() && dropout != 0.0)
    return unsupported(file, "model.dropout", dropout, "null");
  for (const char *affix : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const Json &text = field(model, affix); !text.is_null() && text != "")
      return unsupported(file, fmt::format("model.{}", affix), text, "null");
  return {};
}

/// Reads merges; entries are "left right" or ["left", "right"].
Status readMerges(const std::string &file, const Json &merges, BpeDefinition &definition) {
  if (!merges.is_array())
    return invalidInput("{}: expected an array 'model.merges'", file);
  for (const Json &merge : merges) {
    const std::string where = fmt::format("{}: model.merges[{}]", file, definition.merges.size());
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      definition.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    if (!merge.is_string())
      return invalidInput("{}: expected \"left right\" or [\"left\", \"right\"], found {}", where,
                          shortened(merge));
    TRAINC_RETURN_IF_ERROR(addMerge(where, merge.get_ref<const std::string &>(), definition));
  }
  return {};
}

Status readBpe(const std::string &file, const Json &model, BpeDefinition &definition) {
  TRAINC_RETURN_IF_ERROR(readVocabulary(file, field(model, "vocab"), definition));
  TRAINC_RETURN_IF_ERROR(readMerges(file, field(model, "merges"), definition));
  definition.byteFallback = booleanOf(model, "byte_fallback");
  if (const Json &unknown = field(model, "unk_token"); unknown.is_string())
    definition.unknown = unknown.get<std::string>();
  definition.fuseUnknown = booleanOf(model, "fuse_unk");
  definition.ignoreMerges = booleanOf(model, "ignore_merges");
  return {};
}

/// A type of model, and its loader.
struct ModelType {
  std::string_view name;
  Status (*verify)(const std::string &file, const Json &model);
  Status (*read)(const std::string &file, const Json &model, BpeDefinition &definition);
};

constexpr ModelType kModels[] = {{"BPE", verifyBpe, readBpe}};

Result<ModelType> findModel(const std::string &file, const Json &json) {
  const Json &model = field(json, "model");
  if (!model.is_object())
    return invalidInput("{}: expected an object 'model'", file);
  const std::string type = typeOfModel(model);
  const auto *const found = std::ranges::find(kModels, type, &ModelType::name);
  if (found != std::end(kModels))
    return *found;
  const std::string normalizer = textOf(field(json, "normalizer"), "type");
  std::vector<std::string_view> names;
  std::ranges::transform(kModels, std::back_inserter(names), &ModelType::name);
  return invalidInput("{}: model: {}{} is not supported; expected {}", file, printable(type),
                      normalizer.empty() ? "" : fmt::format(" with the normalizer {}", printable(normalizer)),
                      fmt::join(names, " or "));
}

Status readAddedTokens(const std::string &file, const Json &tokens, BpeDefinition &definition) {
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

Result<BpeDefinition> readTokenizerJson(const std::string &file, std::string_view text) {
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseJsonOnce(file, text));
  BpeDefinition definition;
  definition.file = file;
  const Json &model = field(json, "model");
  TRAINC_ASSIGN_OR_RETURN(const ModelType type, findModel(file, json));
  TRAINC_RETURN_IF_ERROR(type.verify(file, model));
  TRAINC_RETURN_IF_ERROR(readNormalizer(field(json, "normalizer"), definition));
  TRAINC_RETURN_IF_ERROR(readPreTokenizer(field(json, "pre_tokenizer"), definition));
  TRAINC_RETURN_IF_ERROR(readDecoder(field(json, "decoder"), definition));
  TRAINC_RETURN_IF_ERROR(type.read(file, model, definition));
  TRAINC_RETURN_IF_ERROR(readAddedTokens(file, field(json, "added_tokens"), definition));
  TRAINC_RETURN_IF_ERROR(readPostProcessor(field(json, "post_processor"), definition));
  return definition;
}

} // namespace trainc
