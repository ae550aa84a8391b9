#include "runtime/formats/hugging_face_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc {

bool isHeadName(std::string_view name) {
  constexpr std::string_view kNames[] = {kHeadName,
                                         "embed_out.weight",
                                         "cls.predictions.decoder.weight",
                                         "cls.predictions.decoder.bias",
                                         "lm_head.decoder.weight",
                                         "lm_head.decoder.bias",
                                         "decoder.weight"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// The other name of a layer norm's parameter in BERT's files: they have `gamma` and `beta` where today's
/// classes have `weight` and `bias`. Empty if there is none.
static std::string otherNormName(const std::string &name) {
  for (const auto &[one, other] : {std::pair("weight", "gamma"), std::pair("bias", "beta")})
    for (const auto &[from, to] : {std::pair(one, other), std::pair(other, one)})
      if (const std::string end = fmt::format("LayerNorm.{}", from); endsWithName(name, end))
        return name.substr(0, name.rfind('.') + 1) + to;
  return "";
}

std::vector<std::string> otherNames(const std::string &name) {
  std::vector<std::string> names;
  for (const std::string_view prefix : {"transformer.", "model.", "bert.", "roberta.", "vit."}) {
    names.push_back(std::string(prefix) + name);
    if (name.starts_with(prefix))
      names.push_back(name.substr(prefix.size()));
  }
  if (const std::string other = otherNormName(name); !other.empty()) {
    for (size_t index = 0, count = names.size(); index < count; ++index)
      names.push_back(otherNormName(names[index]));
    names.push_back(other);
  }
  return names;
}

bool endsWithName(std::string_view name, std::string_view end) {
  return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

bool isStoredBuffer(std::string_view name, std::span<const uint64_t> shape) {
  if (endsWithName(name, "attn.bias") || endsWithName(name, "attention.bias"))
    return shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3];
  if (endsWithName(name, "attn.masked_bias") || endsWithName(name, "attention.masked_bias"))
    return shape.empty();
  if (endsWithName(name, "embeddings.position_ids") || endsWithName(name, "embeddings.token_type_ids"))
    return shape.size() == 2 && shape[0] == 1;
  return endsWithName(name, "rotary_emb.inv_freq") && shape.size() == 1;
}

} // namespace trainc
