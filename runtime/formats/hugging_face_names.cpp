#include "runtime/formats/hugging_face_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainc {

/// Prefix of a decoder of texts within another model.
static constexpr std::string_view kText = "language_model.";

bool isHeadName(std::string_view name) {
  if (name.starts_with(kText))
    name.remove_prefix(kText.size());
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
  for (const std::string_view prefix :
       {std::string_view("transformer."), std::string_view("model."), kText, std::string_view("bert."),
        std::string_view("roberta."), std::string_view("vit.")}) {
    names.push_back(std::string(prefix) + name);
    if (name.starts_with(prefix))
      names.push_back(name.substr(prefix.size()));
  }
  // Within another model, the prefix may come in place of "model.", or after it (transformers 5).
  constexpr std::string_view kModel = "model.";
  for (const std::string &within : {std::string(kText), std::string(kModel).append(kText)})
    if (name.starts_with(within))
      names.push_back(std::string(kModel).append(name.substr(within.size())));
    else if (name.starts_with(kModel))
      names.push_back(within + name.substr(kModel.size()));
  if (const std::string other = otherNormName(name); !other.empty()) {
    for (size_t index = 0, count = names.size(); index < count; ++index)
      names.push_back(otherNormName(names[index]));
    names.push_back(other);
  }
  return names;
}

bool isEmbeddingName(std::string_view name) {
  constexpr std::string_view kEmbeddings[] = {"wte.weight", "embed_tokens.weight", "word_embeddings.weight",
                                              "tok_embeddings.weight"};
  return std::ranges::any_of(kEmbeddings,
                             [&](std::string_view embedding) { return endsWithName(name, embedding); });
}

bool endsWithName(std::string_view name, std::string_view end) {
  return name.ends_with(end) && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

bool isOfPictures(std::string_view name) {
  constexpr std::string_view kParts[] = {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                         "model.multi_modal_projector."};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.starts_with(part); });
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
