#include "runtime/training/end_tokens.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "runtime/formats/gguf_file.h"

#include <algorithm>
#include <array>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// Names of tokens that end a text, or a turn of a dialogue, in usual tokenizers.
constexpr std::array<std::string_view, 12> kUsualNames = {
    "<|endoftext|>", "</s>",       "<|end_of_text|>",
    "<|eot_id|>",    "<|im_end|>", "<eos>",
    "<end_of_turn>", "<|end|>",    "<|return|>",
    "<|eom_id|>",    "[EOS]",      "<\uff5cend\u2581of\u2581sentence\uff5c>"}; // DeepSeek's

/// Collects ids that are below the model's vocabulary.
class Ends {
public:
  Ends(const Tokenizer &tokenizer, uint64_t vocabulary) : tokenizer_(tokenizer), vocabulary_(vocabulary) {}

  void add(uint64_t id) {
    if (id < vocabulary_ && std::ranges::find(ids_, id) == ids_.end())
      ids_.push_back(static_cast<uint32_t>(id));
  }
  void addName(std::string_view name) {
    if (const std::optional<uint32_t> id = tokenizer_.findToken(name))
      add(*id);
  }
  /// The value of `eos_token_id`: a number or several.
  void addIds(const Json &ids) {
    for (const Json &id : ids.is_array() ? ids : Json::array({ids}))
      if (id.is_number_unsigned())
        add(id.get<uint64_t>());
  }
  /// The value of `eos_token`: a text, or an object that has it as `content`.
  void addToken(const Json &token) {
    const Json &content = token.is_object() && token.contains("content") ? token["content"] : token;
    if (content.is_string())
      addName(content.get_ref<const std::string &>());
  }

  const std::vector<uint32_t> &ids() const { return ids_; }

private:
  const Tokenizer &tokenizer_;
  uint64_t vocabulary_;
  std::vector<uint32_t> ids_;
};

void addOfPlan(const fb::Plan &plan, Ends &ends) {
  if (!plan.exports())
    return;
  for (const fb::Export *file : *plan.exports())
    if (const Json json = tryParseJson(file->text()->string_view());
        json.is_object() && json.contains("eos_token_id"))
      ends.addIds(json["eos_token_id"]);
}

/// The value of `key` in `folder`/`file`; null if either is missing.
Result<Json> readField(const std::filesystem::path &folder, const char *file, const char *key) {
  const std::filesystem::path path = folder / file;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Json();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseJson(path.string(), text));
  return json.is_object() && json.contains(key) ? json[key] : Json();
}

/// Ends of a text, and of a turn or message of a dialogue.
Status addOfGguf(const std::filesystem::path &path, Ends &ends) {
  TRAINC_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
  for (const char *key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    TRAINC_ASSIGN_OR_RETURN(const std::optional<uint64_t> id, file.count(key));
    if (id)
      ends.add(*id);
  }
  return {};
}

Status addOfFiles(const std::string &tokenizer, Ends &ends) {
  if (tokenizer == "bytes")
    return {};
  std::error_code error;
  const std::filesystem::path path = tokenizer;
  if (isGguf(path))
    return addOfGguf(path, ends);
  const std::filesystem::path folder = std::filesystem::is_directory(path, error) ? path : path.parent_path();
  TRAINC_ASSIGN_OR_RETURN(const Json ids, readField(folder, "generation_config.json", "eos_token_id"));
  ends.addIds(ids);
  TRAINC_ASSIGN_OR_RETURN(const Json token, readField(folder, "tokenizer_config.json", "eos_token"));
  ends.addToken(token);
  return {};
}

} // namespace

Result<std::vector<uint32_t>> findEndTokens(const ChosenTokenizer &chosen, const RunOptions &options,
                                            const fb::Plan &plan, uint64_t vocabulary) {
  const Tokenizer &tokenizer = *chosen.tokenizer;
  Ends ends(tokenizer, vocabulary);
  if (!options.endToken.empty()) {
    ends.addName(options.endToken);
    if (ends.ids().empty())
      return invalidInput(
          "--end-token={}: the tokenizer '{}' has no such token below the model's vocabulary of {}",
          options.endToken, chosen.name, vocabulary);
    return ends.ids();
  }
  ends.addName(chosen.endToken);
  if (const std::vector<uint32_t> &after = tokenizer.aroundText().after; !after.empty())
    ends.add(after.back());
  addOfPlan(plan, ends);
  TRAINC_RETURN_IF_ERROR(addOfFiles(chosen.name, ends));
  if (ends.ids().empty())
    for (const std::string_view name : kUsualNames)
      ends.addName(name);
  return ends.ids();
}

} // namespace trainc
