#include "runtime/data/tokenizer/vocab_text.h"

#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/tokenizer_json.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr const char *kUnknown = "[UNK]", *kBegin = "[CLS]", *kEnd = "[SEP]";

/// Token -> id, which is the number of the line before it.
Result<Json> readLines(const std::string &file, std::string_view text) {
  Json vocabulary = Json::object();
  for (size_t id = 0; !text.empty(); ++id) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (!isUtf8(line))
      return invalidInput("{}:{}: expected a token in UTF-8, found '{}'", file, id + 1, printable(line));
    if (const auto [other, isNew] = vocabulary.emplace(line, id); !isNew)
      return invalidInput("{}:{}: the token '{}' is that of line {}, too; each may occur once", file, id + 1,
                          printable(line), other->get<size_t>() + 1);
  }
  for (const char *token : {kUnknown, kBegin, kEnd})
    if (!vocabulary.contains(token))
      return invalidInput(
          "{}: expected BERT's vocabulary, a token per line, with [UNK], [CLS] and [SEP]; found "
          "no {}. Other tokenizers need a tokenizer.json",
          file, token);
  return vocabulary;
}

/// The template of [CLS], a text and [SEP].
Json aroundText(const Json &vocabulary) {
  Json around = {{"type", "TemplateProcessing"},
                 {"single",
                  {{{"SpecialToken", {{"id", kBegin}}}},
                   {{"Sequence", {{"id", "A"}}}},
                   {{"SpecialToken", {{"id", kEnd}}}}}}};
  for (const char *token : {kBegin, kEnd})
    around["special_tokens"][token] = {{"id", token}, {"ids", Json::array({vocabulary[token]})}};
  return around;
}

} // namespace

Result<TokenizerDefinition> readVocabText(const std::string &vocabFile, std::string_view vocab,
                                          const std::string &configFile, std::string_view config) {
  TRAINC_ASSIGN_OR_RETURN(const Json settings, parseJsonOnce(configFile, config));
  TRAINC_ASSIGN_OR_RETURN(Json vocabulary, readLines(vocabFile, vocab));
  const bool lowercase = booleanOf(settings, "do_lower_case", true);
  Json json = {{"normalizer",
                {{"type", "BertNormalizer"},
                 {"clean_text", true},
                 {"handle_chinese_chars", booleanOf(settings, "tokenize_chinese_chars", true)},
                 {"strip_accents", booleanOf(settings, "strip_accents", lowercase)},
                 {"lowercase", lowercase}}},
               {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
               {"post_processor", aroundText(vocabulary)},
               {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}}};
  for (const char *token : {"[PAD]", kUnknown, kBegin, kEnd, "[MASK]"})
    if (vocabulary.contains(token))
      json["added_tokens"].push_back({{"id", vocabulary[token]}, {"content", token}});
  json["model"] = {{"type", "WordPiece"},
                   {"unk_token", kUnknown},
                   {"continuing_subword_prefix", "##"},
                   {"max_input_chars_per_word", 100U},
                   {"vocab", std::move(vocabulary)}};
  return readTokenizer(vocabFile, json);
}

} // namespace trainc
