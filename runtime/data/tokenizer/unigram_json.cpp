#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/model_type.h"
#include "runtime/data/tokenizer/unigram_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// A model without a token for unknown characters would end the encoding of a text with one.
Status verifyUnigram(const std::string &file, const Json &model) {
  if (const Json &unknown = field(model, "unk_id"); !unknown.is_number_unsigned())
    return unsupported(file, "model.unk_id", unknown, "the index of the token for unknown characters");
  return {};
}

/// The score as Hugging Face's reader of JSON rounds it: all digits as an integer, times or divided by a
/// power of ten. The last bit may differ from the nearest number, and decides between sums that are nearly
/// equal. The file is assumed to have the shortest digits, as all writers of such files do.
double roundedScore(double score) {
  constexpr int kMaxPower = 308;
  const auto powerOfTen = [](int exponent) {
    double power = 0;
    const std::string text = fmt::format("1e{}", exponent);
    std::from_chars(text.data(), text.data() + text.size(), power);
    return power;
  };
  char text[32];
  const char *const begin = text;
  const char *const end =
      std::to_chars(text, std::end(text), std::abs(score), std::chars_format::scientific).ptr;
  const char *const letter = std::find(begin, end, 'e');
  std::string digits(begin, letter);
  std::erase(digits, '.');
  const char *const sign = letter + 1;
  int exponent = 0;
  std::from_chars(*sign == '+' ? sign + 1 : sign, end, exponent);
  exponent -= static_cast<int>(digits.size()) - 1;
  double value = static_cast<double>(std::stoull(digits));
  for (; exponent < -kMaxPower; exponent += kMaxPower)
    value /= powerOfTen(kMaxPower);
  value = exponent < 0 ? value / powerOfTen(-exponent) : value * powerOfTen(exponent);
  return std::copysign(value, score);
}

Result<std::unique_ptr<TokenModel>> readUnigram(const std::string &file, const Json &model, Units units) {
  if (units != Units::kCharacters)
    return invalidInput("{}: model: Unigram needs words of characters, the pre_tokenizer ByteLevel makes "
                        "bytes; expected another one, such as Metaspace",
                        file);
  const Json &vocabulary = field(model, "vocab");
  if (!vocabulary.is_array())
    return invalidInput("{}: model.vocab: expected an array of pieces, found {}", file,
                        vocabulary.type_name());
  UnigramDefinition definition;
  definition.file = file;
  definition.unknown = field(model, "unk_id").get<uint64_t>();
  definition.byteFallback = booleanOf(model, "byte_fallback");
  definition.pieces.reserve(vocabulary.size());
  for (const Json &entry : vocabulary) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return invalidInput("{}: model.vocab[{}]: expected [piece, score], found {}", file,
                          definition.pieces.size(), shortened(entry));
    definition.pieces.emplace_back(entry[0].get<std::string>(), roundedScore(entry[1].get<double>()));
  }
  return UnigramModel::create(std::move(definition));
}

} // namespace

extern const TokenModelType kUnigramJson = {"Unigram", verifyUnigram, readUnigram};

} // namespace trainc
