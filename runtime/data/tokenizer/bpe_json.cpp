#include "base/json_text.h"
#include "runtime/data/tokenizer/bpe_model.h"
#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/model_type.h"
#include "runtime/data/tokenizer/vocab_merges.h"

namespace trainc {

namespace {

using Json = nlohmann::json;

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

Result<std::unique_ptr<TokenModel>> readBpe(const std::string &file, const Json &model, Units units) {
  BpeDefinition definition;
  definition.file = file;
  definition.units = units;
  TRAINC_RETURN_IF_ERROR(readVocabulary(file, field(model, "vocab"), definition));
  TRAINC_RETURN_IF_ERROR(readMerges(file, field(model, "merges"), definition));
  definition.byteFallback = booleanOf(model, "byte_fallback");
  if (const Json &unknown = field(model, "unk_token"); unknown.is_string())
    definition.unknown = unknown.get<std::string>();
  definition.fuseUnknown = booleanOf(model, "fuse_unk");
  definition.ignoreMerges = booleanOf(model, "ignore_merges");
  return BpeModel::create(definition);
}

} // namespace

extern const TokenModelType kBpeJson = {"BPE", verifyBpe, readBpe};

} // namespace trainc
