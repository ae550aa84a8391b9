#include "runtime/data/tokenizer/vocab_merges.h"

#include "base/json_text.h"
#include "runtime/data/tokenizer/pipeline_json.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kIds = 1 << 30;
constexpr std::string_view kEndOfText = "<|endoftext|>";

Status readMergeLines(const std::string &file, std::string_view text, BpeDefinition &definition) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version"))
      continue;
    TRAINC_RETURN_IF_ERROR(addMerge(fmt::format("{}:{}", file, number), line, definition));
  }
  return {};
}

} // namespace

Result<TokenizerDefinition> readVocabMerges(const std::string &vocabFile, std::string_view vocab,
                                            const std::string &mergesFile, std::string_view merges) {
  TRAINC_ASSIGN_OR_RETURN(const Json json, parseJsonOnce(vocabFile, vocab));
  BpeDefinition bpe;
  bpe.file = vocabFile;
  TRAINC_RETURN_IF_ERROR(readVocabulary(vocabFile, json, bpe));
  TRAINC_RETURN_IF_ERROR(readMergeLines(mergesFile, merges, bpe));
  TokenizerDefinition definition;
  definition.file = vocabFile;
  TRAINC_RETURN_IF_ERROR(addByteLevel(/*prefixSpace=*/false, /*ownPattern=*/true, definition));
  definition.decoder.emplace_back(FromByteAlphabet{});
  bpe.units = definition.units;
  TRAINC_ASSIGN_OR_RETURN(definition.model, BpeModel::create(bpe));
  if (const auto id = definition.model->find(kEndOfText))
    definition.added.push_back({std::string(kEndOfText), *id});
  return definition;
}

Status readVocabulary(const std::string &file, const Json &vocabulary, BpeDefinition &definition) {
  if (!vocabulary.is_object())
    return invalidInput("{}: expected the vocabulary as an object token -> id, found {}", file,
                        vocabulary.type_name());
  definition.vocabulary.reserve(vocabulary.size());
  for (const auto &[token, value] : vocabulary.items()) {
    const auto id = readTokenId(value);
    if (!id)
      return invalidInput("{}: vocabulary: token '{}': expected an id from 0 to 2^30 - 1, found {}", file,
                          token, value.dump(-1, ' ', false, Json::error_handler_t::replace));
    definition.vocabulary.emplace_back(token, *id);
  }
  return {};
}

std::optional<uint32_t> readTokenId(const Json &id) {
  if (!id.is_number_unsigned() || id.get<uint64_t>() >= kIds)
    return std::nullopt;
  return static_cast<uint32_t>(id.get<uint64_t>());
}

Status addMerge(const std::string &where, std::string_view merge, BpeDefinition &definition) {
  const size_t space = merge.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == merge.size() ||
      merge.find(' ', space + 1) != std::string_view::npos)
    return invalidInput("{}: expected two tokens with one space between them, found '{}'", where, merge);
  definition.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  return {};
}

} // namespace trainc
