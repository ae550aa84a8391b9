#include "runtime/data/tokenizer/post_processor.h"

#include "runtime/data/tokenizer/json_fields.h"
#include "runtime/data/tokenizer/vocab_merges.h"

#include <algorithm>

namespace trainc {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSupported =
    "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel, or a Sequence of these";
constexpr std::string_view kTemplate = "'single' with one Sequence A and SpecialTokens, whose 'ids' are in "
                                       "'special_tokens', at most 65536 of them";
constexpr std::string_view kPair = "'cls' and 'sep', each a token and its id";

/// Maximum tokens around a text: a short file can name very many.
constexpr size_t kMaxAround = 1 << 16;

/// The ids of a special token of a template; false if there are none, or too many.
bool addSpecialToken(const Json &step, const Json &special, std::vector<uint32_t> &ids) {
  const std::string name = textOf(special, "id");
  const Json &known = field(field(field(step, "special_tokens"), name.c_str()), "ids");
  if (!known.is_array() || known.empty() || ids.size() + known.size() > kMaxAround)
    return false;
  for (const Json &each : known) {
    const auto id = readTokenId(each);
    if (!id)
      return false;
    ids.push_back(*id);
  }
  return true;
}

/// {"single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}], "special_tokens": ...}
std::optional<AroundText> readTemplate(const Json &step) {
  const Json &single = field(step, "single");
  if (!single.is_array())
    return std::nullopt;
  AroundText around;
  bool isAfter = false;
  for (const Json &piece : single) {
    if (const Json &sequence = field(piece, "Sequence"); !sequence.is_null()) {
      if (isAfter || textOf(sequence, "id") != "A")
        return std::nullopt;
      isAfter = true;
    } else if (!addSpecialToken(step, field(piece, "SpecialToken"), isAfter ? around.after : around.before)) {
      return std::nullopt;
    }
  }
  return isAfter ? std::optional(std::move(around)) : std::nullopt;
}

/// {"cls": ["<s>", 0], "sep": ["</s>", 2]}
std::optional<AroundText> readPair(const Json &step) {
  const auto idOf = [&](const char *key) -> std::optional<uint32_t> {
    const Json &token = field(step, key);
    return token.is_array() && token.size() == 2 ? readTokenId(token[1]) : std::nullopt;
  };
  const std::optional<uint32_t> before = idOf("cls"), after = idOf("sep");
  if (!before || !after)
    return std::nullopt;
  return AroundText{{*before}, {*after}};
}

/// A later step's tokens enclose those of earlier steps.
void wrap(AroundText &around, const AroundText &outer) {
  around.before.insert(around.before.begin(), outer.before.begin(), outer.before.end());
  around.after.insert(around.after.end(), outer.after.begin(), outer.after.end());
}

} // namespace

Status readPostProcessor(const Json &json, TokenizerDefinition &definition) {
  TRAINC_ASSIGN_OR_RETURN(const std::vector<const Json *> steps,
                          stepsOf(definition.file, "post_processor", json, "processors"));
  for (const Json *each : steps) {
    const Json &step = *each;
    const std::string type = textOf(step, "type");
    if (type == "ByteLevel")
      continue;
    const bool isTemplate = type == "TemplateProcessing";
    if (!isTemplate && type != "BertProcessing" && type != "RobertaProcessing")
      return unsupported(definition.file, "post_processor", step, kSupported);
    const std::optional<AroundText> around = isTemplate ? readTemplate(step) : readPair(step);
    if (!around)
      return unsupported(definition.file, "post_processor", step, isTemplate ? kTemplate : kPair);
    wrap(definition.around, *around);
    if (std::max(definition.around.before.size(), definition.around.after.size()) > kMaxAround)
      return unsupported(definition.file, "post_processor", step,
                         fmt::format("at most {} tokens around a text", kMaxAround));
  }
  return {};
}

} // namespace trainc
