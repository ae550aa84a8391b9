// Models of pictures and texts, whose config.json holds that of their decoder of texts as `text_config`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainc {

/// Keys beside `text_config` that concern pictures alone: their encoder, the layer that projects its states
/// to those of tokens, and the tokens that stand for a picture.
inline constexpr std::string_view kPictureKeys[] = {
    "vision_config",      "image_token_index",        "image_token_id",       "boi_token_index",
    "eoi_token_index",    "mm_tokens_per_image",      "projector_hidden_act", "vision_feature_layer",
    "spatial_merge_size", "multimodal_projector_bias"};

/// All known types of models of pictures and texts, for messages.
std::string compositeTypes();

/// Whether a `model_type` is one of compositeTypes().
bool isCompositeType(std::string_view type);

/// Returns the config of the decoder of texts. It has the keys of the object `text_config`, and all others of
/// `config` except kPictureKeys and `architectures`, which names the class of the whole model. If there is no
/// such object, the result is `config` itself. `config` is an object.
nlohmann::json textConfigOf(const nlohmann::json &config);

} // namespace trainc
