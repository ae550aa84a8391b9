#include "runtime/data/tokenizer/gguf_tokenizer_writer.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/tokenizer/gguf_steps.h"
#include "runtime/data/tokenizer/gguf_tokenizer.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>
#include <map>

namespace trainc {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char *kTokenizerFile = "tokenizer.json";
constexpr const char *kCopyAdvice =
    "name a GGUF file of the base model with --like, whose tokenizer is copied";

/// A JSON file of the folder; null if there is none.
Result<Json> readJson(const fs::path &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return Json();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  return parseJson(path.string(), text);
}

/// The value of `key`; null if `json` is not an object with this key.
const Json &fieldOf(const Json &json, const char *key) {
  static const Json null;
  const auto found = json.find(key); // the end, if `json` is no object
  return found == json.end() ? null : *found;
}

/// The text of a token: a text, or an object that has it as `content`.
std::string contentOf(const Json &token) {
  const Json content = token.is_object() ? fieldOf(token, "content") : token;
  return content.is_string() ? content.get<std::string>() : "";
}

// --- Tokens ---

/// Tokens by id.
struct TokenList {
  std::vector<std::string> texts;
  std::vector<GgufTokenKind> kinds;
  std::map<std::string, uint64_t> ids;

  Status set(const std::string &path, const std::string &text, const Json &id, GgufTokenKind kind) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= texts.size())
      return invalidInput(
          "{}: token '{}' has the id {}; expected one below {}, the rows of the model's embedding", path,
          printable(text), id.dump(), texts.size());
    const auto at = id.get<uint64_t>();
    texts[at] = text;
    kinds[at] = kind;
    ids[text] = at;
    return {};
  }
};

Result<TokenList> readTokenList(const std::string &path, const Json &json, uint64_t vocabulary) {
  TokenList tokens{std::vector<std::string>(vocabulary),
                   std::vector<GgufTokenKind>(vocabulary, GgufTokenKind::kUnused),
                   {}};
  const Json &model = fieldOf(json, "model"), &texts = fieldOf(model, "vocab");
  const bool hasBytes = fieldOf(model, "byte_fallback") == true;
  const std::string unknown = contentOf(fieldOf(model, "unk_token"));
  if (!texts.is_object())
    return invalidInput("{}: expected a model with a \"vocab\" of tokens and ids", path);
  for (const auto &[text, id] : texts.items()) {
    const bool isByte = hasBytes && text.size() == 6 && text.starts_with("<0x") && text.ends_with(">");
    TRAINC_RETURN_IF_ERROR(tokens.set(path, text, id,
                                      isByte                        ? GgufTokenKind::kByte
                                      : hasBytes && text == unknown ? GgufTokenKind::kUnknown
                                                                    : GgufTokenKind::kNormal));
  }
  for (const Json &added : fieldOf(json, "added_tokens")) {
    const std::string text = contentOf(added);
    const bool isUnknown = hasBytes && text == unknown;
    const GgufTokenKind kind = isUnknown                           ? GgufTokenKind::kUnknown
                               : fieldOf(added, "special") == true ? GgufTokenKind::kControl
                                                                   : GgufTokenKind::kUserDefined;
    TRAINC_RETURN_IF_ERROR(tokens.set(path, text, fieldOf(added, "id"), kind));
  }
  for (size_t id = 0; id < vocabulary; ++id)
    if (tokens.kinds[id] == GgufTokenKind::kUnused)
      tokens.texts[id] = fmt::format("[PAD{}]", id);
  return tokens;
}

/// Two tokens that become one.
using MergePair = std::pair<std::string, std::string>;

Result<std::vector<MergePair>> readMerges(const std::string &path, const Json &model) {
  std::vector<MergePair> merges;
  for (const Json &merge : fieldOf(model, "merges")) {
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
      merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
    else
      return invalidInput("{}: merges: expected two tokens, found {}", path,
                          merge.dump(-1, ' ', true, Json::error_handler_t::replace));
  }
  return merges;
}

// --- Steps before the model ---

/// Steps in one form: without lists of one step, without fields that change no ids, and with defaults.
Json normalizedStep(const Json &step) {
  if (!step.is_object())
    return step;
  if (step.value("type", Json()) == "Sequence") {
    const char *key = step.contains("pretokenizers") ? "pretokenizers" : "normalizers";
    Json steps = Json::array();
    for (const Json &each : fieldOf(step, key))
      steps.push_back(normalizedStep(each));
    return steps.size() == 1 ? steps[0] : Json({{"type", "Sequence"}, {key, steps}});
  }
  Json result = step;
  result.erase("trim_offsets");
  if (result.value("type", Json()) == "ByteLevel" && !result.contains("use_regex"))
    result["use_regex"] = true;
  if (result.value("type", Json()) == "Split" && !result.contains("invert"))
    result["invert"] = false;
  return result;
}

/// The name of the steps of a byte-level tokenizer. llama.cpp has no normal forms of Unicode, so that steps
/// with another normalizer are taken if no steps have the same.
Result<std::string_view> nameOfSteps(const std::string &path, const Json &json) {
  const Json pre = normalizedStep(fieldOf(json, "pre_tokenizer")),
             form = normalizedStep(fieldOf(json, "normalizer"));
  const bool ignoresMerges = fieldOf(fieldOf(json, "model"), "ignore_merges") == true;
  const bool isForm = form.is_null() || form == Json({{"type", "NFC"}});
  std::optional<std::string_view> other;
  for (const GgufSteps &steps : ggufSteps()) {
    if (!isForm || steps.ignoresMerges != ignoresMerges || normalizedStep(ggufPreTokenizer(steps)) != pre)
      continue;
    if (ggufNormalizer(steps) == form)
      return steps.name;
    other = other.value_or(steps.name);
  }
  if (other)
    return *other;
  return invalidInput("{}: llama.cpp has no name for the steps of this tokenizer that trainc knows "
                      "(\"normalizer\", \"pre_tokenizer\", \"ignore_merges\"); {}",
                      path, kCopyAdvice);
}

/// Whether SentencePiece's steps put a space before a text; nothing for other steps.
std::optional<bool> spacePrefix(const Json &json) {
  const Json pre = normalizedStep(fieldOf(json, "pre_tokenizer")),
             form = normalizedStep(fieldOf(json, "normalizer"));
  const Json toMeta = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMeta}};
  const Json prepend = {{"type", "Prepend"}, {"prepend", kMeta}};
  if (form.is_null() && fieldOf(pre, "type") == "Metaspace" && fieldOf(pre, "replacement") == kMeta &&
      fieldOf(pre, "split") == false) {
    const Json scheme = fieldOf(pre, "prepend_scheme");
    return scheme.is_string() ? scheme != "never" : fieldOf(pre, "add_prefix_space") != false;
  }
  // Gemma splits at spaces, of which the normalizer leaves none.
  const bool isSplit = fieldOf(pre, "type") == "Split" && fieldOf(pre, "pattern") == Json({{"String", " "}});
  if (!pre.is_null() && !isSplit)
    return std::nullopt;
  if (form == toMeta)
    return false;
  if (form == Json({{"type", "Sequence"}, {"normalizers", Json::array({prepend, toMeta})}}))
    return true;
  return std::nullopt;
}

// --- Models ---

Status addByteLevel(const std::string &path, const Json &json, GgufHeader &header) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view steps, nameOfSteps(path, json));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<MergePair> merges, readMerges(path, fieldOf(json, "model")));
  header.addText("tokenizer.ggml.model", "gpt2");
  header.addText("tokenizer.ggml.pre", steps);
  std::vector<std::string> lines;
  for (const auto &[left, right] : merges) {
    if (left.find(' ') != std::string::npos || right.find(' ') != std::string::npos)
      return invalidInput(
          "{}: merges: expected tokens without spaces, which GGUF puts between them, found '{}' and "
          "'{}'",
          path, printable(left), printable(right));
    lines.push_back(left + " " + right);
  }
  header.addTexts("tokenizer.ggml.merges", lines);
  return {};
}

/// SentencePiece's BPE: a token's score is minus the place of its first merge.
Status addSentencePiece(const std::string &path, const Json &json, const TokenList &tokens,
                        GgufHeader &header) {
  const std::optional<bool> hasPrefix = spacePrefix(json);
  if (!hasPrefix)
    return invalidInput("{}: expected the steps of SentencePiece (spaces become '{}'), found others; {}",
                        path, kMeta, kCopyAdvice);
  TRAINC_ASSIGN_OR_RETURN(const std::vector<MergePair> merges, readMerges(path, fieldOf(json, "model")));
  std::vector<float> scores(tokens.texts.size(), -static_cast<float>(merges.size()) - 1);
  for (size_t i = merges.size(); i-- > 0;) {
    const std::string whole = merges[i].first + merges[i].second;
    const auto id = tokens.ids.find(whole);
    if (id == tokens.ids.end())
      return invalidInput("{}: merges: '{}' makes no token", path, printable(whole));
    scores[id->second] = -static_cast<float>(i);
  }
  header.addText("tokenizer.ggml.model", "llama");
  header.addText("tokenizer.ggml.pre", "default");
  header.addNumbers("tokenizer.ggml.scores", scores);
  header.addBoolean("tokenizer.ggml.add_space_prefix", *hasPrefix);
  return {};
}

/// Fails unless the tokenizer in `header` has the merges of `json`, which follow from its scores.
Status checkMerges(const std::string &path, const Json &json, const GgufHeader &header) {
  TRAINC_ASSIGN_OR_RETURN(const GgufLayout layout, header.layOut({}));
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file,
                          GgufFile::parse(path, std::as_bytes(std::span(layout.header))));
  TRAINC_ASSIGN_OR_RETURN(const std::string written, tokenizerJsonOf(file));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<MergePair> wanted, readMerges(path, fieldOf(json, "model")));
  TRAINC_ASSIGN_OR_RETURN(const std::vector<MergePair> found,
                          readMerges(path, fieldOf(tryParseJson(written), "model")));
  if (wanted == found)
    return {};
  return invalidInput("{}: expected merges in the order of SentencePiece's scores, found others; {}", path,
                      kCopyAdvice);
}

// --- Special tokens and the chat template ---

/// Ids in `eos_token_id`: a number or several.
std::vector<uint64_t> idsIn(const Json &value) {
  std::vector<uint64_t> ids;
  for (const Json &id : value.is_array() ? value : Json::array({value}))
    if (id.is_number_unsigned())
      ids.push_back(id.get<uint64_t>());
  return ids;
}

/// Adds ids of tokens with a role: those that the tokenizer adds around a text, else those of
/// tokenizer_config.json, generation_config.json or config.json.
Status addSpecial(const fs::path &folder, const TokenList &tokens, const AroundText &around,
                  GgufHeader &header) {
  TRAINC_ASSIGN_OR_RETURN(const Json settings, readJson(folder / "tokenizer_config.json"));
  TRAINC_ASSIGN_OR_RETURN(const Json generation, readJson(folder / "generation_config.json"));
  TRAINC_ASSIGN_OR_RETURN(const Json config, readJson(folder / "config.json"));
  const auto add = [&](const char *name, uint64_t id) {
    header.addCount(fmt::format("tokenizer.ggml.{}_token_id", name), static_cast<uint32_t>(id));
  };
  std::optional<uint64_t> end;
  for (const auto &[role, name] : {std::pair("bos", "bos"), std::pair("eos", "eos"),
                                   std::pair("unk", "unknown"), std::pair("pad", "padding")}) {
    const auto token = tokens.ids.find(contentOf(fieldOf(settings, fmt::format("{}_token", role).c_str())));
    std::optional<uint64_t> id = token == tokens.ids.end() ? std::nullopt : std::optional(token->second);
    if (std::string_view(role) == "bos" && !around.before.empty())
      id = around.before.front();
    if (std::string_view(role) == "eos" && !around.after.empty())
      id = around.after.back();
    for (const Json *file : {&generation, &config}) {
      const std::vector<uint64_t> ids = idsIn(fieldOf(*file, fmt::format("{}_token_id", role).c_str()));
      if (!id && !ids.empty() && ids.front() < tokens.texts.size())
        id = ids.front();
    }
    if (!id)
      continue;
    add(name, *id);
    if (std::string_view(role) == "eos")
      end = id;
  }
  header.addBoolean("tokenizer.ggml.add_bos_token", !around.before.empty());
  header.addBoolean("tokenizer.ggml.add_eos_token", !around.after.empty());
  // A model of dialogues ends its turns with another token than texts.
  for (const uint64_t id : idsIn(fieldOf(generation, "eos_token_id")))
    if (end && id != *end && id < tokens.texts.size()) {
      add("eot", id);
      break;
    }
  return {};
}

Status addChatTemplate(const fs::path &folder, GgufHeader &header) {
  constexpr const char *kKey = "tokenizer.chat_template";
  std::error_code error;
  if (fs::exists(folder / "chat_template.jinja", error)) {
    TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(folder / "chat_template.jinja"));
    header.addText(kKey, text);
    return {};
  }
  TRAINC_ASSIGN_OR_RETURN(const Json settings, readJson(folder / "tokenizer_config.json"));
  const Json chat = fieldOf(settings, "chat_template");
  if (chat.is_string())
    header.addText(kKey, chat.get<std::string>());
  for (const Json &each : chat.is_array() ? chat : Json::array())
    if (fieldOf(each, "name").is_string() && fieldOf(each, "template").is_string()) {
      const auto name = each["name"].get<std::string>();
      header.addText(name == "default" ? kKey : fmt::format("{}.{}", kKey, name),
                     each["template"].get<std::string>());
    }
  return {};
}

} // namespace

bool hasTokenizer(const fs::path &folder) {
  std::error_code error;
  return fs::exists(folder / kTokenizerFile, error);
}

Status addTokenizer(const fs::path &folder, uint64_t vocabulary, GgufHeader &header) {
  const fs::path file = folder / kTokenizerFile;
  const std::string path = file.string();
  TRAINC_ASSIGN_OR_RETURN(const Json json, readJson(file));
  const Json model = fieldOf(json, "model");
  if (fieldOf(model, "type") != "BPE")
    return invalidInput("{}: expected a model BPE, found {}; {}", path,
                        fieldOf(model, "type").dump(-1, ' ', true, Json::error_handler_t::replace),
                        kCopyAdvice);
  TRAINC_ASSIGN_OR_RETURN(const TokenList tokens, readTokenList(path, json, vocabulary));
  const bool isSentencePiece = fieldOf(model, "byte_fallback") == true;
  TRAINC_RETURN_IF_ERROR(isSentencePiece ? addSentencePiece(path, json, tokens, header)
                                         : addByteLevel(path, json, header));
  header.addTexts("tokenizer.ggml.tokens", tokens.texts);
  std::vector<int32_t> kinds;
  for (const GgufTokenKind kind : tokens.kinds)
    kinds.push_back(static_cast<int32_t>(kind));
  header.addIntegers("tokenizer.ggml.token_type", kinds);
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, openTokenizer(path));
  TRAINC_RETURN_IF_ERROR(addSpecial(folder, tokens, tokenizer->aroundText(), header));
  if (isSentencePiece)
    TRAINC_RETURN_IF_ERROR(checkMerges(path, json, header));
  return addChatTemplate(folder, header);
}

} // namespace trainc
