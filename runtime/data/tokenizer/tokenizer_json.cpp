#include "runtime/data/tokenizer/tokenizer_json.h"

#include "runtime/base/json_text.h"
#include "runtime/data/tokenizer/vocab_merges.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

std::string shortened(const Json &json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr size_t kMax = 200;
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
}

/// The field, or null where `object` is no object or lacks it.
const Json &field(const Json &object, const char *key) {
  static const Json kNull;
  if (!object.is_object())
    return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

bool isTrue(const Json &object, const char *key) {
  const Json &value = field(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::string typeOf(const Json &object) {
  const Json &type = field(object, "type");
  return type.is_string() ? type.get<std::string>() : std::string();
}

Status unsupported(const std::string &file, std::string_view piece, const Json &found,
                   std::string_view expected) {
  return invalidInput("{}: {}: {} is not supported; expected {}", file, piece, shortened(found), expected);
}

/// The steps of a Sequence under `key`, or the one step itself.
std::vector<Json> steps(const Json &step, const char *key) {
  if (step.is_null())
    return {};
  if (typeOf(step) == "Sequence" && field(step, key).is_array())
    return field(step, key).get<std::vector<Json>>();
  return {step};
}

Result<SplitPattern> readSplit(const std::string &file, const Json &step) {
  const Json &regex = field(field(step, "pattern"), "Regex");
  const Json &behavior = field(step, "behavior");
  if (!regex.is_string() || behavior != "Isolated" || isTrue(step, "invert"))
    return unsupported(file, "pre_tokenizer", step, "a Split by Regex with behavior Isolated, not inverted");
  if (const auto pattern = findSplitPattern(regex.get_ref<const std::string &>()))
    return *pattern;
  return unsupported(file, "pre_tokenizer: Split", regex, "the pattern of GPT-2, Llama 3 or Qwen 2");
}

/// ByteLevel, or Split and then ByteLevel without its own pattern.
Status readPreTokenizer(const std::string &file, const Json &json, BpeDefinition &definition) {
  const std::vector<Json> all = steps(json, "pretokenizers");
  constexpr std::string_view kExpected = "ByteLevel, or a Sequence of Split and ByteLevel";
  if (all.empty() || all.size() > 2 || typeOf(all.back()) != "ByteLevel" ||
      (all.size() == 2 && typeOf(all.front()) != "Split"))
    return unsupported(file, "pre_tokenizer", json, kExpected);
  const Json &byteLevel = all.back();
  const Json &useRegex = field(byteLevel, "use_regex"); // absent in old files: true
  const bool ownPattern = !useRegex.is_boolean() || useRegex.get<bool>();
  definition.addPrefixSpace = isTrue(byteLevel, "add_prefix_space");
  if (all.size() == 1) {
    definition.split = ownPattern ? SplitPattern::kGpt2 : SplitPattern::kWhole;
    return {};
  }
  if (ownPattern || definition.addPrefixSpace)
    return unsupported(file, "pre_tokenizer", byteLevel,
                       "ByteLevel with use_regex and add_prefix_space false after a Split");
  TRAINC_ASSIGN_OR_RETURN(definition.split, readSplit(file, all.front()));
  return {};
}

Status verifyModel(const std::string &file, const Json &model) {
  if (!model.is_object())
    return invalidInput("{}: expected an object 'model'", file);
  if (const Json &type = field(model, "type"); !type.is_null() && type != "BPE")
    return unsupported(file, "model.type", type, "BPE");
  if (const Json &dropout = field(model, "dropout"); !dropout.is_null() && dropout != 0.0)
    return unsupported(file, "model.dropout", dropout, "null");
  for (const char *affix : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const Json &text = field(model, affix); !text.is_null() && text != "")
      return unsupported(file, fmt::format("model.{}", affix), text, "null");
  if (isTrue(model, "byte_fallback"))
    return unsupported(file, "model.byte_fallback", true, "false, with a byte-level vocabulary");
  return {};
}

/// Entries are "left right" or ["left", "right"].
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
    if (isTrue(token, "single_word"))
      return unsupported(file, fmt::format("added_tokens[{}]", definition.added.size()), token,
                         "single_word false");
    definition.added.push_back({content.get<std::string>(), *id, isTrue(token, "normalized"),
                                isTrue(token, "lstrip"), isTrue(token, "rstrip")});
  }
  return {};
}

} // namespace

Result<BpeDefinition> readTokenizerJson(const std::string &file, std::string_view text) {
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseJson(file, text));
  BpeDefinition definition;
  definition.file = file;
  const Json &model = field(json, "model");
  TRAINC_RETURN_IF_ERROR(verifyModel(file, model));
  if (const Json &normalizer = field(json, "normalizer"); !steps(normalizer, "normalizers").empty())
    return unsupported(file, "normalizer", normalizer, "null");
  TRAINC_RETURN_IF_ERROR(readPreTokenizer(file, field(json, "pre_tokenizer"), definition));
  TRAINC_RETURN_IF_ERROR(readVocabulary(file, field(model, "vocab"), definition));
  TRAINC_RETURN_IF_ERROR(readMerges(file, field(model, "merges"), definition));
  TRAINC_RETURN_IF_ERROR(readAddedTokens(file, field(json, "added_tokens"), definition));
  definition.ignoreMerges = isTrue(model, "ignore_merges");
  return definition;
}

} // namespace trainc
