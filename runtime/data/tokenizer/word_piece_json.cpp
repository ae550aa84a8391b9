#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/model_type.h"
#include "runtime/data/tokenizer/vocab_merges.h"
#include "runtime/data/tokenizer/word_piece_model.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

Status verifyWordPiece(const std::string &file, const Json &model) {
  for (const char *key : {"unk_token", "continuing_subword_prefix"})
    if (const Json &text = field(model, key); !text.is_string())
      return unsupported(file, fmt::format("model.{}", key), text, "a string");
  if (const Json &maxCharacters = field(model, "max_input_chars_per_word");
      !maxCharacters.is_number_unsigned())
    return unsupported(file, "model.max_input_chars_per_word", maxCharacters,
                       "a number of characters, such as 100");
  return {};
}

Result<std::unique_ptr<TokenModel>> readWordPiece(const std::string &file, const Json &model, Units units) {
  if (units != Units::kCharacters)
    return invalidInput("{}: model: WordPiece needs words of characters, the pre_tokenizer ByteLevel makes "
                        "bytes; expected another one, such as BertPreTokenizer",
                        file);
  BpeDefinition read;
  TRAINC_RETURN_IF_ERROR(readVocabulary(file, field(model, "vocab"), read));
  return WordPieceModel::create({file, std::move(read.vocabulary), textOf(model, "unk_token"),
                                 textOf(model, "continuing_subword_prefix"),
                                 field(model, "max_input_chars_per_word").get<uint64_t>()});
}

} // namespace

extern const TokenModelType kWordPieceJson = {"WordPiece", verifyWordPiece, readWordPiece};

} // namespace trainc
