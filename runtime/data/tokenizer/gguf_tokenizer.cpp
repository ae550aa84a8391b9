#include "runtime/data/tokenizer/gguf_tokenizer.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/gguf_steps.h"
#include "runtime/data/tokenizer/token_model.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr const char *kModelKey = "tokenizer.ggml.model", *kStepsKey = "tokenizer.ggml.pre",
                     *kTokensKey = "tokenizer.ggml.tokens", *kTypesKey = "tokenizer.ggml.token_type",
                     *kScoresKey = "tokenizer.ggml.scores", *kMergesKey = "tokenizer.ggml.merges";
constexpr const char *kAdvice = "name the model's tokenizer.json instead";

// --- The file's arrays ---

/// Tokens of the file, each with its kind.
struct Tokens {
  std::vector<std::string_view> texts;
  std::vector<GgufTokenKind> kinds;

  /// Whether a token is matched in the text as it stands.
  bool isAdded(size_t id) const {
    return kinds[id] == GgufTokenKind::kControl || kinds[id] == GgufTokenKind::kUserDefined ||
           kinds[id] == GgufTokenKind::kUnknown;
  }
};

/// The array under `key` with one element for each of `count` tokens; null if there is none.
Result<const GgufArray *> arrayOf(const GgufFile &file, const char *key, GgufValueType type, uint64_t count) {
  TRAINC_ASSIGN_OR_RETURN(const GgufArray *array, file.array(key, type));
  if (array && array->count != count)
    return invalidInput("{}: '{}': expected an element for each of {} tokens, found {}", file.path(), key,
                        count, array->count);
  return array;
}

Result<Tokens> readTokens(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const GgufArray *texts, file.array(kTokensKey, GgufValueType::kString));
  if (!texts || texts->count == 0)
    return invalidInput("{}: expected tokens in '{}', found none; {}", file.path(), kTokensKey, kAdvice);
  Tokens tokens{texts->strings, std::vector<GgufTokenKind>(texts->count, GgufTokenKind::kNormal)};
  TRAINC_ASSIGN_OR_RETURN(const GgufArray *kinds,
                          arrayOf(file, kTypesKey, GgufValueType::kInt32, texts->count));
  for (size_t id = 0; id < tokens.texts.size(); ++id) {
    if (!isUtf8(tokens.texts[id]))
      return invalidInput("{}: '{}': expected UTF-8, found '{}' as token {}", file.path(), kTokensKey,
                          printable(tokens.texts[id]), id);
    if (kinds)
      tokens.kinds[id] = static_cast<GgufTokenKind>(kinds->number(id));
  }
  return tokens;
}

/// All tokens: an added token that the vocabulary lacks would get another id.
Result<Json> vocabularyOf(const GgufFile &file, const Tokens &tokens) {
  Json::object_t vocabulary;
  for (size_t id = 0; id < tokens.texts.size(); ++id)
    if (const auto [known, isNew] = vocabulary.emplace(tokens.texts[id], id); !isNew)
      return invalidInput("{}: '{}': expected each token once, found '{}' as {} and {}", file.path(),
                          kTokensKey, printable(tokens.texts[id]), known->second.get<size_t>(), id);
  return Json(std::move(vocabulary));
}

Json addedTokens(const Tokens &tokens) {
  Json added = Json::array();
  for (size_t id = 0; id < tokens.texts.size(); ++id)
    if (tokens.isAdded(id))
      added.push_back({{"id", id},
                       {"content", tokens.texts[id]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", tokens.kinds[id] != GgufTokenKind::kUserDefined}});
  return added;
}

// --- Tokens around a text ---

/// The token that is added at a text's begin or end (`which` is "bos" or "eos"), if any.
Result<std::optional<uint64_t>> boundary(const GgufFile &file, const std::string &which, bool isDefault,
                                         uint64_t tokens) {
  const GgufValue *adds = file.find(fmt::format("tokenizer.ggml.add_{}_token", which));
  const bool *given = adds ? std::get_if<bool>(adds) : nullptr;
  if (!(given ? *given : isDefault))
    return std::optional<uint64_t>();
  const std::string key = fmt::format("tokenizer.ggml.{}_token_id", which);
  TRAINC_ASSIGN_OR_RETURN(const std::optional<uint64_t> id, file.count(key));
  if (id && *id < tokens)
    return id;
  return invalidInput("{}: '{}': expected the id of one of {} tokens, found {}", file.path(), key, tokens,
                      id ? std::to_string(*id) : "none");
}

Result<Json> postProcessor(const GgufFile &file, const Tokens &tokens, bool hasBegin) {
  TRAINC_ASSIGN_OR_RETURN(const auto begin, boundary(file, "bos", hasBegin, tokens.texts.size()));
  TRAINC_ASSIGN_OR_RETURN(const auto end, boundary(file, "eos", false, tokens.texts.size()));
  Json single = Json::array(), special = Json::object();
  const auto add = [&](uint64_t id) {
    const std::string_view text = tokens.texts[id];
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    special[std::string(text)] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
  };
  if (begin)
    add(*begin);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (end)
    add(*end);
  return Json(
      {{"type", "TemplateProcessing"}, {"single", single}, {"pair", single}, {"special_tokens", special}});
}

// --- Byte-level BPE ---

Result<Json> byteLevelMerges(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const GgufArray *array, file.array(kMergesKey, GgufValueType::kString));
  if (!array)
    return invalidInput("{}: expected merges in '{}', found none; {}", file.path(), kMergesKey, kAdvice);
  Json merges = Json::array();
  for (size_t i = 0; i < array->strings.size(); ++i) {
    if (!isUtf8(array->strings[i]))
      return invalidInput("{}: '{}': expected UTF-8, found '{}' as merge {}", file.path(), kMergesKey,
                          printable(array->strings[i]), i);
    merges.push_back(array->strings[i]);
  }
  return merges;
}

Result<Json> byteLevelTokenizer(const GgufFile &file, const Tokens &tokens) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view name, file.text(kStepsKey));
  const auto found = std::ranges::find(ggufSteps(), name, &GgufSteps::name);
  if (found == ggufSteps().end()) {
    std::string names;
    for (const GgufSteps &steps : ggufSteps())
      names += (names.empty() ? "" : ", ") + std::string(steps.name);
    return invalidInput("{}: '{}': expected {}, found '{}'; {}", file.path(), kStepsKey, names,
                        printable(name), kAdvice);
  }
  TRAINC_ASSIGN_OR_RETURN(Json vocabulary, vocabularyOf(file, tokens));
  TRAINC_ASSIGN_OR_RETURN(Json merges, byteLevelMerges(file));
  TRAINC_ASSIGN_OR_RETURN(Json around, postProcessor(file, tokens, found->hasBegin));
  return Json(
      {{"normalizer", ggufNormalizer(*found)},
       {"pre_tokenizer", ggufPreTokenizer(*found)},
       {"post_processor", std::move(around)},
       {"decoder",
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}}},
       {"model",
        {{"type", "BPE"},
         {"ignore_merges", found->ignoresMerges},
         {"vocab", std::move(vocabulary)},
         {"merges", std::move(merges)}}}});
}

// --- SentencePiece's BPE ---

/// Bounds the time to find all splits of a token.
constexpr size_t kMaxMergedBytes = 512;

/// A pair of tokens that makes a token.
struct Merge {
  uint32_t left, right, whole;
};

/// All splits of the token `id` into two tokens, by their ids.
std::vector<Merge> splitsOf(const Tokens &tokens, const StringMap<uint32_t> &ids, uint32_t id) {
  const std::string_view text = tokens.texts[id];
  std::vector<Merge> splits;
  for (size_t at = 1; at < text.size(); ++at) {
    const auto left = ids.find(text.substr(0, at));
    const auto right = left == ids.end() ? ids.end() : ids.find(text.substr(at));
    if (right != ids.end())
      splits.push_back({left->second, right->second, id});
  }
  std::ranges::sort(splits, {}, [](const Merge &merge) { return std::pair(merge.left, merge.right); });
  return splits;
}

/// The merges in the order of the scores of the tokens that they make, the highest first.
Result<Json> mergesByScore(const GgufFile &file, const Tokens &tokens) {
  TRAINC_ASSIGN_OR_RETURN(const GgufArray *scores,
                          arrayOf(file, kScoresKey, GgufValueType::kFloat32, tokens.texts.size()));
  if (!scores)
    return invalidInput("{}: expected scores in '{}', found none; {}", file.path(), kScoresKey, kAdvice);
  StringMap<uint32_t> ids;
  for (size_t id = 0; id < tokens.texts.size(); ++id)
    if (tokens.kinds[id] == GgufTokenKind::kNormal || tokens.kinds[id] == GgufTokenKind::kUserDefined)
      ids.emplace(tokens.texts[id], static_cast<uint32_t>(id));
  std::vector<std::pair<double, Merge>> found;
  for (const auto &[text, id] : ids) {
    if (text.size() > kMaxMergedBytes)
      return invalidInput("{}: '{}': expected tokens of at most {} bytes, found {} in token {}", file.path(),
                          kTokensKey, kMaxMergedBytes, text.size(), id);
    const double score = scores->number(id);
    for (const Merge &merge : splitsOf(tokens, ids, id))
      found.emplace_back(std::isfinite(score) ? score : std::numeric_limits<double>::lowest(), merge);
  }
  std::ranges::sort(found, {}, [](const auto &each) {
    return std::tuple(-each.first, each.second.whole, each.second.left, each.second.right);
  });
  Json merges = Json::array();
  for (const auto &[score, merge] : found)
    merges.push_back({tokens.texts[merge.left], tokens.texts[merge.right]});
  return merges;
}

Result<Json> sentencePieceTokenizer(const GgufFile &file, const Tokens &tokens) {
  const GgufValue *prefix = file.find("tokenizer.ggml.add_space_prefix");
  const bool *given = prefix ? std::get_if<bool>(prefix) : nullptr;
  const bool hasPrefix = given ? *given : true;
  const Json toMeta = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMeta}};
  const Json toSpace = {{"type", "Replace"}, {"pattern", {{"String", kMeta}}}, {"content", " "}};
  Json normalizers = Json::array(),
       decoders = Json::array({toSpace, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
  if (hasPrefix) {
    normalizers.push_back({{"type", "Prepend"}, {"prepend", kMeta}});
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  normalizers.push_back(toMeta);
  TRAINC_ASSIGN_OR_RETURN(Json vocabulary, vocabularyOf(file, tokens));
  TRAINC_ASSIGN_OR_RETURN(Json merges, mergesByScore(file, tokens));
  TRAINC_ASSIGN_OR_RETURN(Json around, postProcessor(file, tokens, true));
  const auto unknown = std::ranges::find(tokens.kinds, GgufTokenKind::kUnknown);
  const Json unknownText = unknown == tokens.kinds.end()
                               ? Json()
                               : Json(tokens.texts[static_cast<size_t>(unknown - tokens.kinds.begin())]);
  return Json({{"normalizer", {{"type", "Sequence"}, {"normalizers", std::move(normalizers)}}},
               {"pre_tokenizer", nullptr},
               {"post_processor", std::move(around)},
               {"decoder", {{"type", "Sequence"}, {"decoders", std::move(decoders)}}},
               {"model",
                {{"type", "BPE"},
                 {"unk_token", unknownText},
                 {"fuse_unk", true},
                 {"byte_fallback", true},
                 {"vocab", std::move(vocabulary)},
                 {"merges", std::move(merges)}}}});
}

} // namespace

Result<std::string> tokenizerJsonOf(const GgufFile &file) {
  if (!file.find(kModelKey))
    return invalidInput("{}: expected a tokenizer in the metadata ('{}'), found none; {}", file.path(),
                        kModelKey, kAdvice);
  TRAINC_ASSIGN_OR_RETURN(const std::string_view model, file.text(kModelKey));
  if (model != "gpt2" && model != "llama")
    return invalidInput(
        "{}: '{}': expected gpt2 (byte-level BPE) or llama (SentencePiece's BPE), found '{}'; {}",
        file.path(), kModelKey, printable(model), kAdvice);
  TRAINC_ASSIGN_OR_RETURN(const Tokens tokens, readTokens(file));
  TRAINC_ASSIGN_OR_RETURN(Json json, model == "gpt2" ? byteLevelTokenizer(file, tokens)
                                                     : sentencePieceTokenizer(file, tokens));
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = addedTokens(tokens);
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

} // namespace trainc
