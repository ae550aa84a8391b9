#include "base/config_forms.h"

#include "base/config_defaults.h"

#include <span>
#include <string>
#include <utility>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// A name that a class accepts for a key.
struct OtherName {
  std::string_view modelType, other, key;
  bool overrides; ///< whether the class prefers the value under the other name
};

constexpr OtherName kOtherNames[] = {{"bloom", "n_embed", "hidden_size", true},
                                     {"bloom", "num_attention_heads", "n_head", true},
                                     {"bloom", "num_hidden_layers", "n_layer", true},
                                     {"falcon", "n_embed", "hidden_size", true}};

Json valueOf(const Json &object, std::string_view key) { return object.value(std::string(key), Json()); }

/// Renames `other` to `key`. If both have a value, `overrides` says which one stays.
void rename(Json &object, std::string_view other, std::string_view key, bool overrides) {
  const Json value = valueOf(object, other);
  object.erase(std::string(other));
  if (!value.is_null() && (overrides || valueOf(object, key).is_null()))
    object[std::string(key)] = value;
}

/// Names of version 4 for the keys of one type of layers. A name is empty if version 4 has no such key.
struct TypeNames {
  std::string_view type, theta, share, scaling;
};

constexpr TypeNames kUsualNames[] = {
    {"full_attention", "rope_theta", "partial_rotary_factor", "rope_scaling"},
    {"sliding_attention", "rope_local_base_freq", "", ""}};
constexpr TypeNames kNamesOfModernBert[] = {{"full_attention", "global_rope_theta", "", ""},
                                            {"sliding_attention", "local_rope_theta", "", ""}};

/// Moves the keys of an object of version 5 to `config`. Returns what version 4 cannot express; null:
/// nothing.
Json moveRope(Json rope, const TypeNames &names, Json &config) {
  for (const auto &[inner, outer] :
       {std::pair("rope_theta", names.theta), std::pair("partial_rotary_factor", names.share)})
    if (const Json value = valueOf(rope, inner); !value.is_null() && !outer.empty()) {
      config[std::string(outer)] = value;
      rope.erase(inner);
    }
  if (!names.scaling.empty()) {
    config[std::string(names.scaling)] = std::move(rope);
    return nullptr;
  }
  if (valueOf(rope, "rope_type") == "default")
    rope.erase("rope_type");
  return rope.empty() ? Json() : rope;
}

/// Whether `rope_parameters` have an object for each type of layers.
bool hasTypes(const Json &ropes) {
  return ropes.contains("full_attention") || ropes.contains("sliding_attention");
}

/// The class reads `rope_scaling` beside `rope_parameters`: in place of it, or in addition to the keys of
/// layers without a window (in ModernBERT, of all layers).
void applyScaling(Json &config, std::string_view modelType) {
  const Json scaling = valueOf(config, "rope_scaling");
  if (!scaling.is_object() || scaling.empty() || !config.contains("rope_parameters"))
    return;
  Json &ropes = config["rope_parameters"];
  if (!hasTypes(ropes)) {
    config.erase("rope_parameters");
    return;
  }
  const auto update = [&](const char *type) {
    if (Json &rope = ropes[type]; rope.is_object() || rope.is_null())
      rope.update(scaling);
  };
  update("full_attention");
  if (modelType == "modernbert")
    update("sliding_attention");
  config.erase("rope_scaling");
}

/// Moves the keys of layers without and with a window.
void moveRopeOfTypes(Json &config, std::string_view modelType) {
  const bool isModernBert = modelType == "modernbert";
  Json &ropes = config["rope_parameters"];
  for (const TypeNames &names : isModernBert ? std::span(kNamesOfModernBert) : std::span(kUsualNames)) {
    const Json rope = valueOf(ropes, names.type);
    const Json rest = rope.is_object() ? moveRope(rope, names, config) : rope;
    if (rest.is_null())
      ropes.erase(std::string(names.type));
    else
      ropes[std::string(names.type)] = rest;
  }
  if (ropes.empty())
    config.erase("rope_parameters");
  // Without a base of their own, OLMo 3's layers with a window have the class's.
  if (modelType == "olmo3" && !config.contains("rope_local_base_freq"))
    config["rope_local_base_freq"] = classDefaults(modelType)["rope_theta"];
}

} // namespace

Json withNamesOfClass(Json config, std::string_view modelType) {
  for (const auto &[type, other, key, overrides] : kOtherNames)
    if (type == modelType && config.contains(other))
      rename(config, other, key, overrides);
  return config;
}

Json withRopeOfVersion4(Json config, std::string_view modelType) {
  applyScaling(config, modelType);
  if (const Json rope = valueOf(config, "rope_parameters"); rope.is_object()) {
    if (hasTypes(rope)) {
      moveRopeOfTypes(config, modelType);
    } else {
      config.erase("rope_parameters");
      moveRope(rope, kUsualNames[0], config);
    }
  }
  rename(config, "rotary_pct", "partial_rotary_factor", false);
  rename(config, "rotary_emb_base", "rope_theta", false);
  return config;
}

} // namespace trainc
